#include <ooc/detail/device/huge_page_memory.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ooc::detail {
namespace {

TEST(HugePageMemory, IsAlignedToHugePagesZeroedAndWritable) {
  HugePageMemory memory;
  for (const std::size_t bytes : {std::size_t{1}, 4096 + std::size_t{1}, 5 * MiB}) {
    const Buffer buffer(memory, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2 * MiB), 0u);
    EXPECT_EQ(std::ranges::count(std::span(buffer.data(), bytes), std::byte{0}),
              static_cast<std::ptrdiff_t>(bytes));
    std::memset(buffer.data(), 1, bytes);
  }
}

}  // namespace
}  // namespace ooc::detail
