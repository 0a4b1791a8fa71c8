#include "device/memory.hpp"

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <new>

namespace ooc::detail {
namespace {

TEST(MeteredMemory, CountsAndKeepsItsLimit) {
  MeteredMemory memory(heap_memory(), "device memory");
  memory.set_limit(1000);
  {
    const Buffer first(memory, 600);
    EXPECT_EQ(memory.bytes_in_use(), 600u);
    try {
      const Buffer second(memory, 500);
      FAIL() << "the limit was exceeded";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      EXPECT_NE(std::string(error.what()).find("500 more bytes of device memory"),
                std::string::npos)
          << error.what();
      EXPECT_EQ(advice(error.details()),
                "raise Options::device_bytes to at least 1100, or lower Options::chunk_bytes or "
                "Options::streams");
    }
    EXPECT_EQ(memory.bytes_in_use(), 600u);
    const Buffer third(memory, 400);
  }
  EXPECT_EQ(memory.bytes_in_use(), 0u);
  EXPECT_EQ(memory.peak_bytes(), 1000u);
  memory.restart_peak();
  EXPECT_EQ(memory.peak_bytes(), 0u);
  EXPECT_EQ(memory.allocations(), 2u);
}

TEST(MeteredMemory, DoesNotCountWhatItDidNotGet) {
  struct None final : MemoryResource {
    void* allocate(std::size_t, std::size_t) override { throw std::bad_alloc(); }
    void deallocate(void*, std::size_t, std::size_t) override { FAIL(); }
  } none;
  MeteredMemory memory(none, "device memory");
  memory.set_limit(1000);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(Buffer(memory, 600), std::bad_alloc);
  EXPECT_EQ(memory.bytes_in_use(), 0u);
  EXPECT_EQ(memory.peak_bytes(), 0u);
  EXPECT_EQ(memory.allocations(), 0u);
}

TEST(RecyclingMemory, HandsOutAgainWhatItGotBack) {
  MeteredMemory upstream(heap_memory(), "memory");
  {
    RecyclingMemory memory(upstream);
    for (int round = 0; round < 10; ++round) {
      const Buffer large(memory, 1000);
      const Buffer small(memory, 10);
      EXPECT_NE(large.data(), small.data());
      const Buffer whole_blocks(memory, 2048);  // a multiple of the allocation size
    }
    EXPECT_EQ(upstream.allocations(), 3u);
  }
  EXPECT_EQ(upstream.bytes_in_use(), 0u);
}

TEST(Buffer, MovesItsBytes) {
  MeteredMemory memory(heap_memory(), "memory");
  Buffer buffer(memory, 100);
  std::byte* const data = buffer.data();
  Buffer other = std::move(buffer);
  EXPECT_EQ(other.data(), data);
  other = Buffer(memory, 50);
  EXPECT_EQ(memory.bytes_in_use(), 50u);
}

}  // namespace
}  // namespace ooc::detail
