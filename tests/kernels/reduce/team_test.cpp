// The built-in operators on several devices: they find what one finds, to the bit.

#include <ooc/histogram.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/reduce/reduce_fixture.hpp"
#include "support/all_types.hpp"

namespace ooc::detail {
namespace {

/// Two devices: that of the parameter, and the CPU.
class TeamOfReduceTest : public test::ReduceTest {
 protected:
  static Coordinator team(const Options& options = {.chunk_bytes = 256 * KiB}) {
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(make_device(GetParam()));
    devices.push_back(make_device(DeviceKind::cpu));
    devices.front()->bind_to_thread();  // it has started, and takes part
    return Coordinator(std::move(devices), options);
  }
  static Coordinator alone() { return Coordinator(make_device(DeviceKind::cpu)); }
};

TEST_P(TeamOfReduceTest, EveryTypeHasTheBitsOfOneDevice) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      const Source source = source_of(test::varied_values<T>(40 * tile_elements + 77));
      Coordinator devices = team(), one = alone();
      const HistogramOptions bins{.bins = 33, .range = HistogramOptions::Range{-5, 500}};
      for (const ReduceOptions options :
           {ReduceOptions{NanPolicy::omit, true}, ReduceOptions{NanPolicy::propagate, false}}) {
        const auto [found, stats] = summarize(devices, source, {options, bins});
        const Summary expected = summarize(one, source, {options, bins}).value;
        EXPECT_EQ(test::bits_of(found.statistics), test::bits_of(expected.statistics))
            << name_of(type);
        EXPECT_EQ(found.histogram.counts, expected.histogram.counts) << name_of(type);
        EXPECT_FALSE(stats.devices.empty());
        EXPECT_EQ(stats.outcome.bytes, source.bytes());
      }
    });
  }
}

// Both passes are shared; the input does not stay on one of the devices.
TEST_P(TeamOfReduceTest, AHistogramWithoutARangeSharesBothPasses) {
  const Source source = source_of(test::varied_values<float>(100 * tile_elements + 77));
  Coordinator devices = team(), one = alone();
  const auto [found, stats] = histogram(devices, source);
  const Histogram expected = histogram(one, source).value;
  EXPECT_EQ(found.counts, expected.counts);
  EXPECT_EQ(found.edges, expected.edges);
  const Source integers = source_of(test::varied_values<std::int32_t>(100 * tile_elements + 77));
  const HistogramOptions by_rule{.bins = BinRule::scott};
  EXPECT_EQ(histogram(devices, integers, by_rule).value.counts,
            histogram(one, integers, by_rule).value.counts);
  EXPECT_EQ(stats.outcome.passes, 2u);
  EXPECT_EQ(stats.outcome.resident_bytes, 0u);
  ASSERT_FALSE(stats.devices.empty());
  std::uint64_t bytes = 0;
  for (const DeviceShare& share : stats.devices) bytes += share.bytes;
  EXPECT_EQ(bytes, 2 * source.bytes());
}

INSTANTIATE_TEST_SUITE_P(Devices, TeamOfReduceTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
