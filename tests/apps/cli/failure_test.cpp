#include "cli/failure.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ooc/io/error.hpp>

namespace ooc_run {
namespace {

using ooc::Cause;

// As a CUDA runtime whose GPU is lost: what it does at the end of the process never returns, or
// crashes.
void break_the_end_of_main() {
  std::atexit([] { std::abort(); });
}

TEST(Failure, OfAGpuEndsTheProcessWithoutCleaningUp) {
  EXPECT_EXIT(
      {
        break_the_end_of_main();
        std::exit(
            report_error(ooc::Error(Cause::device, "the GPU is lost", {.why = "a bad kernel"})));
      },
      testing::ExitedWithCode(8), "error: the GPU is lost\n  why:  a bad kernel");
}

// The table of docs/reference.md: scripts depend on each of them.
TEST(Failure, HasAnExitCodeForEachCause) {
  EXPECT_EQ(exit_code_of(Cause::internal), 1);
  EXPECT_EQ(exit_code_of(Cause::usage), 2);
  EXPECT_EQ(exit_code_of(Cause::bad_input), 3);
  EXPECT_EQ(exit_code_of(Cause::input), 4);
  EXPECT_EQ(exit_code_of(Cause::input_changed), 5);
  EXPECT_EQ(exit_code_of(Cause::output), 6);
  EXPECT_EQ(exit_code_of(Cause::memory), 7);
  EXPECT_EQ(exit_code_of(Cause::device), 8);
  EXPECT_EQ(exit_code_of(Cause::stalled), 9);
  EXPECT_EQ(exit_code_of(Cause::verify), 10);
  EXPECT_EQ(exit_code_of(Cause::interrupted), 130);
}

TEST(Failure, OfAnythingElseLeavesTheEndToTheCaller) {
  EXPECT_EXIT(std::exit(report_error(ooc::Error(Cause::memory, "no room")) + 100),
              testing::ExitedWithCode(107), "error: no room");
}

}  // namespace
}  // namespace ooc_run
