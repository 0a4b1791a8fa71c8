#include <gtest/gtest.h>

#include <ooc/io/engine.hpp>
#include <ooc/io/file.hpp>
#include <ooc/io/output_file.hpp>
#include <ooc/io/units.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <vector>

#include "expect_error.hpp"
#include "pages.hpp"
#include "support/child_process.hpp"
#include "support/engines.hpp"
#include "support/redirect.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

using test::expect_error;
using test::Pages;
using test::TempDir;

/// The kernel lets this process write no file beyond `bytes`, and sends it SIGXFSZ if it tries.
bool limit_file_size(std::size_t bytes) {
  const rlimit limit{bytes, bytes};
  return std::signal(SIGXFSZ, SIG_DFL) != SIG_ERR && ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

/// From now on what is written through `descriptor` goes to a disk that is always full.
void fill_disk_of(int descriptor) {
  test::redirect(descriptor, "/dev/full", O_WRONLY);
}

class EngineWriteTest : public test::EachEngine {
 protected:
  static std::unique_ptr<Engine> make(EngineOptions options = {}) {
    options.writes = true;
    return EachEngine::make(options);
  }

  std::string published() {
    file_.commit();
    return test::read_whole(file_.path());
  }

  static constexpr std::size_t file_bytes = 100'000;

  TempDir directory_;
  OutputFile file_{directory_.path() / "result", file_bytes, false};
};

TEST_P(EngineWriteTest, WritesAtAnyOffset) {
  const auto bytes = test::random_bytes(file_bytes, 3);
  auto memory = bytes;
  const auto engine = make();
  for (const std::size_t end : {99'999u, 5u, 4096u, 1u, 50'000u, 100'000u}) {
    const std::size_t begin = end - std::min<std::size_t>(end, 50'001);
    Request request{.target = &file_,
                    .memory = memory.data() + begin,
                    .offset = begin,
                    .bytes = end - begin,
                    .needed = end - begin};
    engine->start(request);
    EXPECT_EQ(engine->in_flight(), 1u);
    EXPECT_EQ(&engine->wait(), &request);
    EXPECT_EQ(engine->in_flight(), 0u);
    EXPECT_EQ(request.done, end - begin);
  }
  EXPECT_TRUE(test::same_bytes(test::bytes_of(published()), bytes));
}

TEST_P(EngineWriteTest, KeepsManyRequestsInFlight) {
  constexpr std::size_t block = 4096, blocks = 24;
  for (const bool registered : {false, true}) {
    OutputFile file(directory_.path() / (registered ? "a" : "b"), block * blocks, false);
    Pages pages(block * blocks);
    const auto bytes = test::random_bytes(block * blocks, 4);
    std::ranges::copy(bytes, pages.data());
    const auto engine = make({.depth = 5,
                              .storage = registered ? pages.span() : std::span<std::byte>{},
                              .storage_piece = 2 * block});
    auto requests = test::consecutive_requests({.target = &file,
                                                .direct = file.direct() >= 0,
                                                .memory = pages.data(),
                                                .bytes = block,
                                                .needed = block},
                                               blocks);
    test::transfer_all(*engine, requests);
    EXPECT_EQ(engine->note() + engine->remark(), "");
    file.commit();
    EXPECT_TRUE(test::same_bytes(test::bytes_of(test::read_whole(file.path())), bytes));
  }
}

TEST_P(EngineWriteTest, WritesThroughThePageCacheWhatIsRefusedDirectly) {
  if (file_.direct() < 0) GTEST_SKIP() << file_.why_not_direct();
  Pages pages(16384);
  const auto engine = make();
  Request request{.target = &file_,
                  .direct = true,
                  .memory = pages.data() + 1,  // no disk takes this
                  .offset = 3,
                  .bytes = 9001,
                  .needed = 9001};
  engine->start(request);
  engine->wait();
  EXPECT_FALSE(request.direct);
  EXPECT_EQ(engine->remark(), "1 direct request was refused and went through the page cache");
  const std::string written = published();
  EXPECT_EQ(written.substr(0, 3), std::string(3, '\0'));
  EXPECT_EQ(written.substr(3, 9002), std::string(9001, '\xAA') + '\0');
}

TEST_P(EngineWriteTest, NamesTheByteAtWhichTheDiskWasFull) {
  Pages pages(4096);
  fill_disk_of(file_.buffered());
  Request request{
      .target = &file_, .memory = pages.data(), .offset = 64, .bytes = 100, .needed = 100};
  const auto engine = make();
  engine->start(request);
  expect_error(
      ErrorKind::output,
      file_.path().string() + ": write failed at byte 64: No space left on device (ENOSPC)",
      [&] { engine->wait(); });
  EXPECT_EQ(engine->in_flight(), 0u);
}

TEST_P(EngineWriteTest, GoesOnAfterAnError) {
  Pages pages(8192);
  OutputFile full(directory_.path() / "full", 100, false);
  fill_disk_of(full.buffered());
  Request bad{.target = &full, .memory = pages.data(), .bytes = 100, .needed = 100};
  Request good{.target = &file_, .memory = pages.data() + 4096, .bytes = 100, .needed = 100};
  test::expect_only_one_fails(*make(), bad, good, ENOSPC);
  EXPECT_EQ(published().substr(0, 101), std::string(100, '\xAA') + '\0');
}

// The kernel takes what is below the limit and reports the rest when it is asked for: so the error
// names the limit only if the write was continued there.
TEST_P(EngineWriteTest, ContinuesShortWrites) {
  test::expect_in_child([&] {
    if (!limit_file_size(10'000)) return false;
    Pages pages(16384);
    for (const bool direct : {false, true}) {
      if (direct && file_.direct() < 0) continue;
      Request request{.target = &file_,
                      .direct = direct,
                      .memory = pages.data(),
                      .offset = 4096,
                      .bytes = 16384,
                      .needed = 16384};
      const auto engine = make();
      engine->start(request);
      try {
        engine->wait();
        return false;
      } catch (const Error& error) {
        const ErrorDetails& details = error.details();
        const bool right = error.kind() == ErrorKind::output && details.errno_value == EFBIG &&
                           details.offset == 10'000u && details.path == file_.path() &&
                           !details.hint.empty() && engine->in_flight() == 0;
        if (!right) throw;
      }
    }
    return true;
  });
}

// What the kernel still wrote after the engine is gone would be whatever the memory holds by then.
TEST_P(EngineWriteTest, LeavesTheMemoryAloneOnceItIsGone) {
  OutputFile file(directory_.path() / "large", 8 * MiB, false);
  Pages pages(8 * MiB);
  auto requests = test::consecutive_requests({.target = &file,
                                              .direct = file.direct() >= 0,
                                              .memory = pages.data(),
                                              .bytes = MiB,
                                              .needed = MiB},
                                             8);
  test::abandon(make({.depth = 8}), requests);
  std::ranges::fill(pages.span(), std::byte{0x55});
  ::usleep(20'000);
  file.commit();
  EXPECT_EQ(test::read_whole(file.path()).find('\x55'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineWriteTest, test::all_engines, test::engine_name);

}  // namespace
}  // namespace ooc
