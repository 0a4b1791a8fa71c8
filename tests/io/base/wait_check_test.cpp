#include <ooc/detail/base/wait_check.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace ooc::detail {
namespace {

TEST(WaitCheck, IsTheInnermostOfItsThread) {
  WaitCheck::look();  // there is none
  int outer = 0, inner = 0;
  const WaitCheck first([&] { ++outer; });
  WaitCheck::look();
  {
    const WaitCheck second([&] { ++inner; });
    WaitCheck::look();
    std::jthread([] { WaitCheck::look(); }).join();
  }
  WaitCheck::look();
  EXPECT_EQ(outer, 2);
  EXPECT_EQ(inner, 1);
}

TEST(WaitCheck, ThrowsWhatItsFunctionThrows) {
  const WaitCheck check([] { throw std::out_of_range("enough"); });
  EXPECT_THROW(WaitCheck::look(), std::out_of_range);
}

}  // namespace
}  // namespace ooc::detail
