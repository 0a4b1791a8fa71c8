#include "run/deadline.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace ooc_run {
namespace {

TEST(Deadline, CallsWhatIsToHappenWhenTheTimeIsOver) {
  std::atomic<bool> is_over{false};
  const Deadline deadline(0.01, [&] {
    is_over = true;
    is_over.notify_one();
  });
  is_over.wait(false);
}

TEST(Deadline, IsForgottenIfItIsKept) {
  std::atomic<bool> is_over{false};
  {
    const Deadline deadline(3600, [&] { is_over = true; });
  }
  EXPECT_FALSE(is_over);
}

}  // namespace
}  // namespace ooc_run
