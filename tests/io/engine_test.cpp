#include <gtest/gtest.h>

#include <ooc/io/engine.hpp>
#include <ooc/io/file.hpp>
#include <ooc/io/units.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "expect_error.hpp"
#include "pages.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/engines.hpp"
#include "support/redirect.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

using test::expect_error;
using test::expect_in_child;
using test::Pages;
using test::TempDir;

class EngineTest : public test::EachEngine {
 protected:
  /// Reads it on an engine of its own.
  void read(Request& request) {
    const auto engine = make();
    engine->start(request);
    EXPECT_EQ(engine->in_flight(), 1u);
    EXPECT_EQ(&engine->wait(), &request);
    EXPECT_EQ(engine->in_flight(), 0u);
  }

  TempDir directory_;
  std::vector<std::byte> bytes_ = test::random_bytes(100'000, 3);
  std::filesystem::path path_ = directory_.write("data", bytes_);
  File file_ = File::open(path_);
};

TEST_P(EngineTest, ReadsAtAnyOffset) {
  Pages pages(8192);
  for (const std::size_t offset : {0u, 1u, 4095u, 4096u, 99'999u}) {
    const std::size_t count = std::min<std::size_t>(5001, bytes_.size() - offset);
    Request request{.source = &file_,
                    .memory = pages.data() + 3,
                    .offset = offset,
                    .bytes = count,
                    .needed = count};
    read(request);
    EXPECT_EQ(request.done, count);
    EXPECT_TRUE(std::equal(pages.data() + 3, pages.data() + 3 + count, bytes_.data() + offset));
    EXPECT_EQ(pages.data()[3 + count], std::byte{0xAA});
    std::ranges::fill(pages.span(), std::byte{0xAA});
  }
}

TEST_P(EngineTest, KeepsManyRequestsInFlight) {
  constexpr std::size_t block = 4096, blocks = 24;
  for (const bool registered : {false, true}) {
    Pages pages(block * blocks);
    const auto engine = make({.depth = 5,
                              .storage = registered ? pages.span() : std::span<std::byte>{},
                              .storage_piece = 2 * block});
    auto requests = test::consecutive_requests({.source = &file_,
                                                .direct = file_.direct() >= 0,
                                                .memory = pages.data(),
                                                .bytes = block,
                                                .needed = block},
                                               blocks);
    test::transfer_all(*engine, requests);
    EXPECT_TRUE(std::equal(pages.span().begin(), pages.span().end(), bytes_.begin()));
    EXPECT_EQ(engine->note() + engine->remark(), "");
  }
}

TEST_P(EngineTest, ReadsAcrossRegisteredPieces) {
  Pages pages(16384);
  const auto engine = make({.storage = pages.span().first(12288), .storage_piece = 4096});
  for (const std::size_t place : {4000u, 12000u, 16000u}) {  // across two, out of, beyond
    Request request{.source = &file_, .memory = pages.data() + place, .bytes = 300, .needed = 300};
    engine->start(request);
    engine->wait();
    EXPECT_TRUE(std::equal(pages.data() + place, pages.data() + place + 300, bytes_.data()));
  }
}

TEST_P(EngineTest, TailMayEndInsideABlock) {
  if (file_.direct() < 0) GTEST_SKIP() << file_.why_not_direct();
  Pages pages(8192);
  const std::size_t tail = bytes_.size() % 4096;
  Request request{.source = &file_,
                  .direct = true,
                  .memory = pages.data(),
                  .offset = bytes_.size() - tail,
                  .bytes = 8192,
                  .needed = tail};
  read(request);
  EXPECT_EQ(request.done, tail);
  EXPECT_TRUE(std::equal(pages.data(), pages.data() + tail, bytes_.end() - std::ptrdiff_t(tail)));
}

TEST_P(EngineTest, SeesThatAFileShrank) {
  std::filesystem::resize_file(path_, 10'000);
  Pages pages(16384);
  for (const bool direct : {false, true}) {
    if (direct && file_.direct() < 0) continue;
    Request request{.source = &file_,
                    .direct = direct,
                    .memory = pages.data(),
                    .offset = 4096,
                    .bytes = 16384,
                    .needed = 16384};
    const auto engine = make();
    engine->start(request);
    expect_error(ErrorKind::input_changed,
                 path_.string() + ": shrank while it was read, from 100000 to 10000 bytes",
                 [&] { engine->wait(); });
    EXPECT_EQ(engine->in_flight(), 0u);
    EXPECT_EQ(request.done, 10'000u - 4096);
    EXPECT_EQ(engine->note() + engine->remark(), "");
  }
}

TEST_P(EngineTest, ReportsTheErrorOfTheDisk) {
  Pages pages(4096);
  // Nothing is mapped at its beginning: EIO.
  test::redirect(file_.buffered(), "/proc/self/mem", O_RDONLY);
  Request request{
      .source = &file_, .memory = pages.data(), .offset = 64, .bytes = 100, .needed = 100};
  const auto engine = make();
  engine->start(request);
  expect_error(ErrorKind::input,
               path_.string() + ": read failed at byte 64: Input/output error (EIO)",
               [&] { engine->wait(); });
  EXPECT_EQ(engine->in_flight(), 0u);
}

TEST_P(EngineTest, GoesOnAfterAnError) {
  Pages pages(8192);
  const File broken = File::open(path_);
  test::redirect(broken.buffered(), "/", O_RDONLY);
  Request bad{.source = &broken, .memory = pages.data(), .bytes = 100, .needed = 100};
  Request good{.source = &file_, .memory = pages.data() + 4096, .bytes = 100, .needed = 100};
  test::expect_only_one_fails(*make(), bad, good, EISDIR);
  EXPECT_TRUE(std::equal(bytes_.begin(), bytes_.begin() + 100, pages.data() + 4096));
}

TEST_P(EngineTest, ReadsThroughThePageCacheWhatIsRefusedDirectly) {
  if (file_.direct() < 0) GTEST_SKIP() << file_.why_not_direct();
  Pages pages(16384);
  const auto engine = make();
  Request request{.source = &file_,
                  .direct = true,
                  .memory = pages.data() + 1,  // no disk takes this
                  .offset = 3,
                  .bytes = 9001,
                  .needed = 9001};
  engine->start(request);
  engine->wait();
  EXPECT_FALSE(request.direct);
  EXPECT_TRUE(std::equal(pages.data() + 1, pages.data() + 9002, bytes_.begin() + 3));
  EXPECT_EQ(engine->remark(), "1 direct request was refused and went through the page cache");
}

// Whatever the kernel still writes after the engine is gone would spoil memory that by then
// belongs to somebody else.
TEST_P(EngineTest, LeavesTheMemoryAloneOnceItIsGone) {
  const auto large = test::random_bytes(8 * MiB, 4);
  const File file = File::open(directory_.write("large", large));
  Pages pages(8 * MiB);
  auto requests = test::consecutive_requests({.source = &file,
                                              .direct = file.direct() >= 0,
                                              .memory = pages.data(),
                                              .bytes = MiB,
                                              .needed = MiB},
                                             8);
  test::abandon(make({.depth = 8}), requests);
  std::ranges::fill(pages.span(), std::byte{0x55});
  ::usleep(20'000);
  EXPECT_TRUE(std::ranges::all_of(pages.span(), [](std::byte b) { return b == std::byte{0x55}; }));
}

TEST_P(EngineTest, CanBeDroppedBeforeItReads) {
  Pages pages(4096);
  Request request{.source = &file_, .memory = pages.data(), .bytes = 4096, .needed = 4096};
  make()->start(request);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineTest, test::all_engines, test::engine_name);

TEST(MakeEngine, NamesItself) {
  EXPECT_EQ(make_engine({.kind = EngineKind::threads})->name(), "threads");
  EXPECT_EQ(make_engine({.kind = EngineKind::threads})->note(), "");
  expect_error(ErrorKind::usage, "depth", [] { make_engine({.depth = 0}); });
}

TEST(MakeEngine, OfNoThreadsUsesTheCallersOwn) {
  const test::TempDir directory;
  const auto contents = test::random_bytes(100'000, 1);
  const File file = File::open(directory.write("data", contents));
  const auto engine = make_engine({.kind = EngineKind::threads, .depth = 3, .threads = 0});
  EXPECT_EQ(engine->name(), "threads");
  std::vector<std::byte> read(contents.size());
  std::array<Request, 3> requests;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t begin = i * 30'000, bytes = i == 2 ? 40'000 : 30'000;
    requests[i] = {.source = &file,
                   .memory = read.data() + begin,
                   .offset = begin,
                   .bytes = bytes,
                   .needed = bytes};
    engine->start(requests[i]);
  }
  EXPECT_TRUE(std::ranges::all_of(read, [](std::byte b) { return b == std::byte{}; }))
      << "somebody reads";
  while (engine->in_flight() > 0) engine->wait();
  EXPECT_EQ(read, contents);
}

TEST(MakeEngine, FallsBackToThreadsWhereIoUringIsForbidden) {
  const TempDir directory;
  const auto path = directory.write("data", "0123456789");
  expect_in_child([&] {
    test::refuse_system_call(SYS_io_uring_setup, EPERM);
    const auto engine = make_engine({});
    const File file = File::open(path);
    std::string text(10, '\0');
    Request request{.source = &file,
                    .memory = reinterpret_cast<std::byte*>(text.data()),
                    .bytes = 10,
                    .needed = 10};
    engine->start(request);
    engine->wait();
    return engine->name() == "threads" && text == "0123456789" &&
           engine->note() ==
               "io_uring is not available: Operation not permitted (EPERM); seccomp or "
               "kernel.io_uring_disabled forbids it";
  });
}

TEST(MakeEngine, RefusesWhereIoUringIsDemandedAndMissing) {
  expect_in_child([] {
    test::refuse_system_call(SYS_io_uring_setup, ENOSYS);
    try {
      make_engine({.kind = EngineKind::uring});
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage && error.details().errno_value == ENOSYS &&
             !error.details().hint.empty();
    }
  });
}

TEST(MakeEngine, ReadsUnregisteredWhereMemoryMayNotBeLocked) {
  if (!test::uring_is_available()) GTEST_SKIP() << "no io_uring";
  const TempDir directory;
  const auto bytes = test::random_bytes(MiB, 5);
  const auto path = directory.write("data", bytes);
  expect_in_child([&] {
    const File file = File::open(path);
    const rlimit limit{64 * KiB, 64 * KiB};
    if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
    if (::geteuid() == 0 && ::setuid(65534) != 0) return false;  // root may lock what it likes
    Pages pages(MiB);
    const auto engine = make_engine({.storage = pages.span()});
    Request request{.source = &file, .memory = pages.data(), .bytes = MiB, .needed = MiB};
    engine->start(request);
    engine->wait();
    return engine->name() == "uring" && std::ranges::equal(pages.span(), bytes) &&
           engine->note().find("without registered buffers: Cannot allocate memory (ENOMEM)") !=
               std::string::npos;
  });
}

TEST(MakeEngine, NeedsNothingOfIoUringButRings) {
  if (!test::uring_is_available()) GTEST_SKIP() << "no io_uring";
  const TempDir directory;
  const auto bytes = test::random_bytes(MiB, 5);
  const auto path = directory.write("data", bytes);
  expect_in_child([&] {
    const File file = File::open(path);
    test::refuse_system_call(SYS_io_uring_register, EPERM);
    Pages pages(MiB);
    const auto engine = make_engine({.kind = EngineKind::uring, .storage = pages.span()});
    Request request{.source = &file, .memory = pages.data(), .bytes = MiB, .needed = MiB};
    engine->start(request);
    engine->wait();
    return engine->name() == "uring" && std::ranges::equal(pages.span(), bytes) &&
           engine->note() ==
               "io_uring works without registered buffers: Operation not permitted (EPERM); "
               "seccomp or kernel.io_uring_disabled forbids it";
  });
}

TEST(MakeEngine, GivesUpOnADiskThatIsNeverReady) {
  const TempDir directory;
  const auto path = directory.write("data", "0123456789");
  expect_in_child([&] {
    const File file = File::open(path);
    test::refuse_system_call(SYS_pread64, EAGAIN);
    const auto engine = make_engine({.kind = EngineKind::threads});
    std::byte memory[10];
    Request request{.source = &file, .memory = memory, .bytes = 10, .needed = 10};
    engine->start(request);
    try {
      engine->wait();
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::input && error.details().errno_value == EAGAIN &&
             request.retries == 16 && engine->in_flight() == 0;
    }
  });
}

// By the ring alone: pread() takes no file that lets it wait.
TEST(UringEngine, WaitsForNoLongerThanItIsTold) {
  if (!test::rings_wait_for_a_while()) GTEST_SKIP() << "no io_uring that gives up waiting";
  const TempDir directory;
  const File file = File::open(directory.write("data", test::random_bytes(8, 5)));
  const int event = ::eventfd(0, EFD_CLOEXEC);  // who reads it waits until it is written to
  ASSERT_EQ(::dup2(event, file.buffered()), file.buffered());
  std::uint64_t value = 0;
  Request request{.source = &file,
                  .memory = reinterpret_cast<std::byte*>(&value),
                  .bytes = sizeof value,
                  .needed = sizeof value};
  const auto engine = make_engine({.kind = EngineKind::uring});
  engine->start(request);
  EXPECT_EQ(engine->wait_for(std::chrono::microseconds(100)), nullptr);
  EXPECT_EQ(engine->in_flight(), 1u);
  ASSERT_EQ(::eventfd_write(event, 42), 0);
  Request* done = nullptr;
  while (done == nullptr) done = engine->wait_for(std::chrono::microseconds(100));
  EXPECT_EQ(done, &request);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(engine->in_flight(), 0u);
  ::close(event);
}

TEST(MakeEngine, IsNotDisturbedBySignals) {
  const TempDir directory;
  const auto bytes = test::random_bytes(4 * MiB, 6);
  const auto path = directory.write("data", bytes);
  expect_in_child([&] {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART: system calls end with EINTR
    const itimerval often{{0, 100}, {0, 100}};
    if (::sigaction(SIGALRM, &action, nullptr) != 0) return false;
    if (::setitimer(ITIMER_REAL, &often, nullptr) != 0) return false;
    const File file = File::open(path);
    Pages pages(4 * MiB);
    for (int round = 0; round < test::effort(50, 5); ++round) {
      std::ranges::fill(pages.span(), std::byte{0});
      const auto engine = make_engine({});
      Request request{.source = &file,
                      .direct = file.direct() >= 0,
                      .memory = pages.data(),
                      .bytes = 4 * MiB,
                      .needed = 4 * MiB};
      engine->start(request);
      engine->wait();
      if (!std::ranges::equal(pages.span(), bytes)) return false;
    }
    return true;
  });
}

TEST(MakeEngine, SaysSoIfNoThreadCanBeStarted) {
  expect_in_child([] {
    test::refuse_system_call(SYS_clone3, EAGAIN);
    test::refuse_system_call(SYS_clone, EAGAIN);
    try {
      make_engine({.kind = EngineKind::threads});
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::memory;
    }
  });
}

}  // namespace
}  // namespace ooc
