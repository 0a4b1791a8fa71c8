#include "failure.hpp"

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

TEST(Failure, OfAnythingElseLeavesTheEndToTheCaller) {
  EXPECT_EXIT(std::exit(report_error(ooc::Error(Cause::memory, "no room")) + 100),
              testing::ExitedWithCode(107), "error: no room");
}

}  // namespace
}  // namespace ooc_run
