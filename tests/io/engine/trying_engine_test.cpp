// Tests of the handling of results that both engines share. Each try has a scripted result.

#include "engine/engines.hpp"

#include <gtest/gtest.h>

#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

/// An engine that takes the result of each try from a script and transfers nothing.
class ScriptedEngine final : public TryingEngine {
 public:
  explicit ScriptedEngine(std::vector<int> results)
      : TryingEngine(1), results_(std::move(results)) {}

  std::string_view name() const noexcept override { return "scripted"; }
  std::size_t tries() const { return tries_; }
  /// True if the last try was direct.
  bool was_direct() const { return was_direct_; }

 private:
  void begin_try(Request& request) override {
    request_ = &request;
    was_direct_ = request.direct;
    ++tries_;
  }
  Outcome next_outcome() override { return {request_, results_.at(tries_ - 1)}; }
  bool has_outcome_within(std::chrono::microseconds /*patience*/) override { return true; }

  std::vector<int> results_;
  Request* request_ = nullptr;
  std::size_t tries_ = 0;
  bool was_direct_ = false;
};

class TryingEngineTest : public testing::Test {
 protected:
  Request read_of(std::size_t bytes) const {
    return {.source = &input_, .bytes = bytes, .needed = bytes};
  }
  Request write_of(std::size_t bytes) {
    return {.target = &output_, .bytes = bytes, .needed = bytes};
  }

  static void transfer(ScriptedEngine& engine, Request& request) {
    engine.start(request);
    engine.wait();
  }

  /// Expects that the transfer of `request` fails with this error if its tries have these results.
  static void expect_failure(Request request, std::vector<int> results, ErrorKind kind,
                             std::string_view text) {
    ScriptedEngine engine(std::move(results));
    expect_error(kind, text, [&] { transfer(engine, request); });
    EXPECT_EQ(engine.in_flight(), 0u);
  }

  test::TempDir directory_;
  File input_ = File::open(directory_.write("input", std::string(9000, 'i')));
  OutputFile output_{directory_.path() / "output", 9000, false};
};

TEST_F(TryingEngineTest, TriesAgainAfterASignal) {
  for (Request request : {read_of(8192), write_of(8192)}) {
    ScriptedEngine engine({-EINTR, -EAGAIN, -ECANCELED, 8192});
    transfer(engine, request);
    EXPECT_EQ(request.done, 8192u);
    EXPECT_EQ(engine.tries(), 4u);
    EXPECT_EQ(engine.note(), "");
  }
}

TEST_F(TryingEngineTest, DoesNotTryForEver) {
  expect_failure(read_of(8192), std::vector<int>(17, -EINTR), ErrorKind::input, "(EINTR)");
  expect_failure(write_of(8192), std::vector<int>(17, -EINTR), ErrorKind::output, "(EINTR)");
}

TEST_F(TryingEngineTest, TransfersTheRestAfterAShortTransfer) {
  for (Request request : {read_of(8192), write_of(8192)}) {
    request.direct = true;
    ScriptedEngine whole_blocks({4096, 4096});
    transfer(whole_blocks, request);
    EXPECT_EQ(request.done, 8192u);
    EXPECT_TRUE(whole_blocks.was_direct());
    ScriptedEngine part_of_a_block({100, 8092});
    transfer(part_of_a_block, request);
    EXPECT_EQ(request.done, 8192u);
    EXPECT_FALSE(part_of_a_block.was_direct()) << "the rest does not begin where a block does";
  }
}

TEST_F(TryingEngineTest, TransfersThroughThePageCacheWhatIsRefusedDirectly) {
  Request request = read_of(8192);
  request.direct = true;
  ScriptedEngine engine({-EINVAL, 8192});
  transfer(engine, request);
  EXPECT_FALSE(engine.was_direct());
  EXPECT_EQ(engine.remark(), "1 direct request was refused and went through the page cache");
}

TEST_F(TryingEngineTest, FailsWithTheErrorAndWhereItCameUp) {
  expect_failure(read_of(8192), {4096, -EIO}, ErrorKind::input, "read failed at byte 4096");
  expect_failure(write_of(8192), {4096, -ENOSPC}, ErrorKind::output, "write failed at byte 4096");
  expect_failure(read_of(8192), {-EINVAL}, ErrorKind::input, "(EINVAL)");
}

TEST_F(TryingEngineTest, FailsIfNothingMoreComesOrGoes) {
  expect_failure(read_of(9001), {9000, 0}, ErrorKind::input_changed, "shrank while it was read");
  expect_failure(write_of(8192), {4096, 0}, ErrorKind::output, "(EIO)");
}

}  // namespace
}  // namespace ooc::detail
