#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/pool/slots.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

TEST(Slots, AreAcquiredFromTheLowestOn) {
  for (const std::size_t count : {1u, 63u, 64u, 65u, 130u}) {
    Slots slots(heap_memory(), count, 1);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(slots.try_acquire(), i);
    EXPECT_FALSE(slots.try_acquire());
    const std::size_t last = count - 1, middle = count / 2;
    slots.release(last);
    if (middle != last) slots.release(middle);
    EXPECT_EQ(slots.try_acquire(), middle);
  }
}

TEST(Slots, AboveALoweredLimitAreRetired) {
  Slots slots(heap_memory(), 100, 1);
  for (std::size_t i = 0; i < 70; ++i) slots.try_acquire();
  slots.set_limit(66);
  EXPECT_FALSE(slots.try_acquire());
  slots.release(69);
  EXPECT_FALSE(slots.try_acquire());
  slots.release(65);
  EXPECT_EQ(slots.try_acquire(), 65u);
  slots.set_limit(71);
  EXPECT_EQ(slots.try_acquire(), 69u);
  EXPECT_EQ(slots.try_acquire(), 70u);
  EXPECT_FALSE(slots.try_acquire());
}

TEST(Slots, HaveMemoryOfWholePages) {
  Slots slots(heap_memory(), 3, 5000);
  EXPECT_EQ(slots.slot_bytes(), 8192u);
  EXPECT_EQ(slots.memory().size(), 3 * 8192u);
  EXPECT_EQ(slots.memory(2).data(), slots.memory().data() + 2 * 8192);
  test::expect_error(ErrorKind::usage, "at least one slot", [] { Slots(heap_memory(), 0, 1); });
  test::expect_error(ErrorKind::usage, "at most 65535", [] { Slots(heap_memory(), 65536, 1); });
}

TEST(Slots, HaveOneOwnerEach) {
  constexpr std::size_t count = 5, threads = 4;
  Slots slots(heap_memory(), count, 1);
  std::vector<std::atomic<int>> owners(count);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> users;
    for (std::size_t i = 0; i < threads; ++i) {
      users.emplace_back([&] {
        for (int round = 0; round < 5000; ++round) {
          const std::uint32_t seen = slots.changes();
          const auto slot = slots.try_acquire();
          if (!slot) {
            slots.wait(seen);
            continue;
          }
          wrong += owners[*slot]++ != 0;
          wrong += owners[*slot]-- != 1;
          slots.release(*slot);
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ooc::detail
