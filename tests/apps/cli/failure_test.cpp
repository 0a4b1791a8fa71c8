#include "cli/failure.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ooc/error.hpp>

namespace ooc_run {
namespace {

using ooc::ErrorKind;

/// Registers an exit handler that crashes, as the CUDA runtime's may do when the GPU is lost.
void break_the_end_of_main() {
  std::atexit([] { std::abort(); });
}

TEST(Failure, OfAGpuEndsTheProcessWithoutCleaningUp) {
  EXPECT_EXIT(
      {
        break_the_end_of_main();
        std::exit(report_error(
            ooc::Error(ErrorKind::device, "the GPU is lost", {.why = "a bad kernel"})));
      },
      testing::ExitedWithCode(8), "error: the GPU is lost\n  why:  a bad kernel");
}

// The exit codes of docs/reference.md, on which scripts depend.
TEST(Failure, HasAnExitCodeForEachCause) {
  EXPECT_EQ(exit_code_of(ErrorKind::internal), 1);
  EXPECT_EQ(exit_code_of(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code_of(ErrorKind::bad_input), 3);
  EXPECT_EQ(exit_code_of(ErrorKind::input), 4);
  EXPECT_EQ(exit_code_of(ErrorKind::input_changed), 5);
  EXPECT_EQ(exit_code_of(ErrorKind::output), 6);
  EXPECT_EQ(exit_code_of(ErrorKind::memory), 7);
  EXPECT_EQ(exit_code_of(ErrorKind::device), 8);
  EXPECT_EQ(exit_code_of(ErrorKind::stalled), 9);
  EXPECT_EQ(exit_code_of(ErrorKind::verify), 10);
  EXPECT_EQ(exit_code_of(ErrorKind::interrupted), 130);
}

TEST(Failure, OfAnythingElseLeavesTheEndToTheCaller) {
  EXPECT_EXIT(std::exit(report_error(ooc::Error(ErrorKind::memory, "no room")) + 100),
              testing::ExitedWithCode(107), "error: no room");
}

}  // namespace
}  // namespace ooc_run
