// Tests sums on the device. Compiled by nvcc the tests run on both devices, compiled by g++ on the
// CPU.

#include <ooc/detail/base/units.hpp>
#include <ooc/execute.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "support/allocations.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t columns = 5;

/// Adds a column to its sum.
template <class T>
struct AddColumn {
  DeviceSpan<const float> values;
  T* sums;

  constexpr void operator()(std::size_t column) const {
    for (std::size_t i = column; i < values.size; i += columns) {
      sums[column] += static_cast<T>(values[i]);
    }
  }
};

template <class T, Merge order>
struct DeviceColumnSums {
  using Input = Row<float>;
  using Partial = DeviceSums<T>;
  static constexpr Merge merge_order = order;
  static constexpr std::size_t partition_records = 4096;

  Partial make_partial(Stream& stream) const { return {stream, columns}; }
  void consume(Stream& stream, DeviceRows<const float> in, Partial& sums) const {
    ASSERT_EQ(sums.size(), columns);
    execute(stream, [&](auto policy) {
      thrust::for_each_n(policy, thrust::counting_iterator<std::size_t>(0), columns,
                         AddColumn<T>{in, sums.data()});
    });
  }
};

/// Copies the rows and adds them up on the way.
struct CopyAndSum : DeviceColumnSums<float, Merge::by_partition> {
  using Output = Row<float>;
  void transform(Stream& stream, DeviceRows<const float> in, DeviceRows<float> out,
                 Partial& sums) const {
    consume(stream, in, sums);
    stream.copy(out.data, in.data, in.size * sizeof(float));
  }
};

class DeviceSumsTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    test::write_file(path_, values_);
    source_.emplace(open_bytes(path_));
    source_->set_columns(columns);
  }

  static std::vector<float> random_values() {
    std::mt19937 random(11);
    std::lognormal_distribution<float> values(0, 3);
    std::vector<float> made(100'003 * columns);
    for (float& value : made) value = values(random);
    return made;
  }

  template <class Op>
  auto sums_of(const Op& op, std::size_t streams, std::size_t chunk_bytes = 256 * KiB) {
    Coordinator coordinator(make_device(GetParam()),
                            {.chunk_bytes = chunk_bytes, .streams = streams});
    return fold(coordinator, op, *source_).value;  // outlives the coordinator
  }

  test::TempDir dir_;
  std::filesystem::path path_ = dir_.path() / "values.f32";
  std::vector<float> values_ = random_values();
  std::optional<Source> source_;
};

INSTANTIATE_TEST_SUITE_P(Devices, DeviceSumsTest, test::all_devices, test::device_name);

TEST_P(DeviceSumsTest, AreThoseOfAPlainLoop) {
  std::vector<std::uint64_t> expected(columns);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    expected[i % columns] += static_cast<std::uint64_t>(values_[i]);
  }
  for (const std::size_t streams : {1u, 3u}) {
    EXPECT_EQ((sums_of(DeviceColumnSums<std::uint64_t, Merge::unordered>{}, streams).values()),
              expected);
    EXPECT_EQ((sums_of(DeviceColumnSums<std::uint64_t, Merge::by_place>{}, streams).values()),
              expected);
    EXPECT_EQ((sums_of(DeviceColumnSums<std::uint64_t, Merge::in_order>{}, streams).values()),
              expected);
  }
}

TEST_P(DeviceSumsTest, HaveTheSameBitsForAnyChunkSizeIfMergedByPartition) {
  const DeviceColumnSums<float, Merge::by_partition> op;
  const std::vector<float> expected = sums_of(op, 1).values();
  double all = 0, sums = 0;
  for (const float value : values_) all += value;
  for (const float sum : expected) sums += sum;
  EXPECT_NEAR(sums, all, 1e-3 * all);
  EXPECT_EQ(sums_of(op, 3).values(), expected);
  EXPECT_EQ(sums_of(op, 2, 2 * MiB).values(), expected);
}

TEST_P(DeviceSumsTest, AreGatheredByAMapToo) {
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
  const Target target{.path = dir_.path() / "copy.f32", .type = {ElementType::f4}};
  EXPECT_EQ(map(coordinator, CopyAndSum{}, *source_, target).value.values(),
            sums_of(DeviceColumnSums<float, Merge::by_partition>{}, 1).values());
}

TEST_P(DeviceSumsTest, OfNothingHaveNoValues) {
  test::write_file(path_, std::vector<float>());
  const Source empty = open_bytes(path_);
  Coordinator coordinator(make_device(GetParam()));
  const DeviceSums<float> total =
      fold(coordinator, DeviceColumnSums<float, Merge::by_partition>{}, empty).value;
  EXPECT_TRUE(total.values().empty());
  EXPECT_EQ(total.size(), 0u);
}

/// Sums of elements, since expect_no_allocation_per_chunk() makes its own source.
struct OneSum {
  using Input = float;
  using Partial = DeviceSums<double>;
  static constexpr std::size_t partition_records = 4096;

  Partial make_partial(Stream& stream) const { return {stream, 1}; }
  void consume(Stream& stream, DeviceSpan<const float> in, Partial& sums) const {
    execute(stream, [&](auto policy) {
      thrust::for_each_n(policy, thrust::counting_iterator<std::size_t>(0), 1,
                         AddColumn<double>{in, sums.data()});
    });
  }
};

/// Has one partial for each stream. How many of those of partitions live at once depends on time.
struct SumOfEachStream : OneSum {
  static constexpr Merge merge_order = Merge::unordered;
};

TEST_P(DeviceSumsTest, AllocateNothingOnceAChunkHasPassed) {
  const auto pass = [](Coordinator& coordinator, const Source& source) {
    return fold(coordinator, SumOfEachStream{}, source).stats;
  };
  test::expect_no_allocation_per_chunk(GetParam(), pass);
}

}  // namespace
}  // namespace ooc::detail
