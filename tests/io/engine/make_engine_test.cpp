#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/file/file.hpp>

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
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "io/pages.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/engines.hpp"
#include "support/temp_dir.hpp"

// Tests of the choice of an engine, and of engines in processes that lack a right or a resource.

namespace ooc::detail {
namespace {

using test::expect_error;
using test::expect_in_child;
using test::Pages;
using test::TempDir;

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
      << "read before wait()";
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
             advice(error.details()) ==
                 "unset Options::engine, or set Options::engine to threads (reads the same bytes)";
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
    if (::geteuid() == 0 && ::setuid(65534) != 0) return false;  // root may lock any amount
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

// Only io_uring waits for a limited time: pread() on this file blocks until the eventfd is written.
TEST(UringEngine, WaitsForNoLongerThanItIsTold) {
  if (!test::rings_wait_for_a_while()) GTEST_SKIP() << "no io_uring that gives up waiting";
  const TempDir directory;
  const File file = File::open(directory.write("data", test::random_bytes(8, 5)));
  const int event = ::eventfd(0, EFD_CLOEXEC);  // a read blocks until it is written
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
}  // namespace ooc::detail
