#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/sizing/layout_fixture.hpp"
#include "sizing/layout.hpp"

// Tests where a layout places results, and how it writes them.

namespace ooc::detail {
namespace {

using test::LayoutTest;

OutputFacts output_of(std::size_t record_bytes) {
  return {.record_bytes = record_bytes};
}

TEST_F(LayoutTest, CutsTheOutputWhereItCutsTheInput) {
  for (const std::uint64_t data_offset : {0u, 128u}) {
    for (const std::uint64_t elements : {std::uint64_t{1}, std::uint64_t{1'000'003}}) {
      const OutputFacts output{.record_bytes = 8, .offset = data_offset};
      const Layout layout = layout_for({}, DeviceKind::cpu, on_disk(elements), needs_of(1), output);
      const SequentialPlan& writes = layout.writes->plan;
      ASSERT_EQ(writes.size(), layout.plan.size());
      std::vector<Extent> storage(writes.max_extents());
      for (std::size_t i = 0; i < writes.size(); ++i) {
        EXPECT_EQ(writes.bytes(i), 8 * layout.plan.bytes(i));
        const Extent expected{0, data_offset + 8 * layout.plan.chunk(i).first, writes.bytes(i)};
        const auto extents = writes.extents(i, storage);
        ASSERT_EQ(extents.size(), 1u);
        EXPECT_EQ(extents.front(), expected);
      }
    }
  }
}

TEST_F(LayoutTest, FindsRoomInASlotForInputAndOutput) {
  constexpr std::uint64_t elements = 10 * MiB;
  struct Width {
    std::size_t in, out;
  };
  for (const auto& [in, out] : {Width{1, 8}, Width{8, 1}, Width{4, 4}}) {
    const OutputFacts output = output_of(out);
    const SourceFacts source = on_disk(elements * in);
    const Layout cpu = layout_for({}, DeviceKind::cpu, source, needs_of(in), output);
    const std::size_t result = cpu.chunk_bytes / in * out;
    EXPECT_EQ(cpu.writes->config.chunk_bytes, result);
    EXPECT_GE(cpu.writes->places.in_slot, cpu.chunk_bytes);
    EXPECT_EQ(cpu.writes->places.in_slot % page_bytes, 0u);
    EXPECT_GE(cpu.slot_bytes, cpu.writes->places.in_slot + result);
    // A GPU's result replaces the input in its slot, since the input has been copied to the GPU.
    const Layout cuda = layout_for({}, DeviceKind::cuda, source, needs_of(in), output);
    EXPECT_EQ(cuda.writes->places.in_slot, 0u);
    EXPECT_GE(cuda.slot_bytes, std::max(cuda.chunk_bytes, cuda.chunk_bytes / in * out));
    // Neither input nor output has chunks larger than those that suit the device.
    const Layout fold = layout_for({}, DeviceKind::cuda, source, needs_of(in));
    EXPECT_LE(std::max(cuda.chunk_bytes, cuda.writes->config.chunk_bytes), fold.chunk_bytes);
  }
}

TEST_F(LayoutTest, OutputsOfASplitShareOneRoom) {
  StepNeeds needs = needs_of(4);
  needs.appends = true;
  for (const std::size_t groups : {1u, 64u, 4096u}) {
    needs.groups = groups;
    const Layout layout = layout_for({}, DeviceKind::cuda, on_disk(256 * MiB), needs, output_of(4));
    const ResultPlaces& places = layout.writes->places;
    const std::size_t step = layout.writes->plan.max_step_bytes(0);
    const std::size_t numbers = round_up((groups + 1) * sizeof(std::uint64_t), page_bytes);
    EXPECT_EQ(places.outputs.size(), 1u);
    EXPECT_EQ(places.in_pages, step / groups >= 16 * page_bytes);
    EXPECT_GE(places.made, step + (places.in_pages ? 2 * page_bytes * groups : 0));
    EXPECT_LE(places.bytes, step + step / 8 + page_bytes + numbers);
  }
}

TEST_F(LayoutTest, KeepsToTheLimitsWithAnOutput) {
  constexpr std::uint64_t elements = 64 * MiB;
  for (const std::size_t limit : {4 * MiB, 8 * MiB, 64 * MiB}) {
    for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
      const Layout layout = layout_for({.memory_bytes = limit, .device_bytes = limit}, device,
                                       on_disk(elements), needs_of(1), output_of(4));
      EXPECT_LE(layout.slots * layout.slot_bytes, limit);
      EXPECT_GE(layout.slots, 2u);
      const std::size_t buffers = 4 * (layout.chunk_bytes + layout.writes->config.chunk_bytes);
      EXPECT_LE(device == DeviceKind::cuda ? workers_.lanes * buffers : 0, limit);
    }
  }
}

TEST_F(LayoutTest, SaysWhyItDoesNotWriteDirectly) {
  const OutputFacts small{.record_bytes = 1, .why_not_direct = "the output is smaller than a page"};
  const auto reasons = [&](const Options& options, std::uint64_t bytes) {
    return layout_for(options, DeviceKind::cpu, on_disk(bytes), needs_of(1), small).reasons;
  };
  EXPECT_EQ(reasons({}, 5).back(), (Reason{ReasonKind::buffered_writes, small.why_not_direct}));
  EXPECT_TRUE(reasons({.direct = DirectIo::no}, 5).empty());
  EXPECT_TRUE(reasons({}, 0).empty());
}

}  // namespace
}  // namespace ooc::detail
