// Tests scans: running sums, whose carry passes from partition to partition.

#include <ooc/error.hpp>
#include <ooc/scan.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/data_file.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Machine;
using test::on_host;
using test::to_device;

template <class T>
T value_of(Stream& stream, const T* place) {
  return on_host(stream, DeviceSpan<const T>{place, 1}).front();
}

/// The running sum of integers.
struct RunningIntegerSum {
  using Input = std::int32_t;
  using Output = std::int64_t;
  using Carry = std::int64_t;
  static constexpr std::size_t partition_records = 4096;

  void begin(Stream& stream, DeviceChunk<const Input> in, DeviceSpan<Output> out,
             Carry* own) const {
    const std::vector<Input> values = on_host(stream, in);
    std::vector<Output> sums(values.size());
    std::partial_sum(values.begin(), values.end(), sums.begin(), std::plus<Output>());
    to_device(stream, out.data, std::span<const Output>(sums));
    to_device(stream, own, value_of(stream, own) + sums.back());  // it is 0 before
  }
  void join(Stream& stream, const Carry* before, const Carry* own, Carry* after) const {
    to_device(stream, after, value_of(stream, before) + value_of(stream, own));
  }
  void finish(Stream& stream, DeviceSpan<Output> out, const Carry* before) const {
    std::vector<Output> sums = on_host(stream, out);
    for (Output& sum : sums) sum += value_of(stream, before);
    to_device(stream, out.data, std::span<const Output>(sums));
  }
};

/// The running sum of floats, which rounds, and how many there were before each partition.
struct RunningFloatSum {
  using Input = float;
  using Output = std::tuple<float, std::uint32_t>;
  struct Carry {
    float sum = 0;
    std::uint32_t count = 0;
  };

  void begin(Stream& stream, DeviceChunk<const float> in, DeviceSpan<float> out,
             DeviceSpan<std::uint32_t>, Carry* own) const {
    const std::vector<float> values = on_host(stream, in);
    std::vector<float> sums(values.size());
    std::partial_sum(values.begin(), values.end(), sums.begin());
    to_device(stream, out.data, std::span<const float>(sums));
    to_device(stream, own, Carry{sums.back(), static_cast<std::uint32_t>(in.size)});
  }
  void join(Stream& stream, const Carry* before, const Carry* own, Carry* after) const {
    const Carry left = value_of(stream, before), right = value_of(stream, own);
    to_device(stream, after, Carry{left.sum + right.sum, left.count + right.count});
  }
  void finish(Stream& stream, DeviceChunk<float> out, DeviceChunk<std::uint32_t> counts,
              const Carry* before) const {
    const Carry carry = value_of(stream, before);
    EXPECT_EQ(out.first, carry.count);
    EXPECT_EQ(counts.first, carry.count);
    std::vector<float> sums = on_host(stream, out);
    for (float& sum : sums) sum += carry.sum;
    to_device(stream, out.data, std::span<const float>(sums));
    to_device(stream, counts.data,
              std::span<const std::uint32_t>(std::vector(counts.size, carry.count)));
  }
};

/// Fails in join() at the third partition.
struct FailingJoin : RunningIntegerSum {
  void join(Stream& stream, const Carry* before, const Carry* own, Carry* after) const {
    if (value_of(stream, before) > 8192) throw Error(ErrorKind::bad_input, "enough");
    RunningIntegerSum::join(stream, before, own, after);
  }
};

class ScanTest : public testing::TestWithParam<Machine> {
 protected:
  static constexpr std::size_t count_ = 300'007;

  void SetUp() override { OOC_SKIP_WITHOUT_MACHINE(GetParam()); }

  Target target(const std::string& name, ElementType type) const {
    return {.path = dir_.path() / name, .type = {type}, .replace = true};
  }
  template <class T>
  Source source(const std::string& name, const std::vector<T>& values) const {
    test::write_file(dir_.path() / name, values);
    return open(dir_.path() / name);
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Machines, ScanTest, test::all_machines, test::machine_name);

TEST_P(ScanTest, SumsFromTheBeginning) {
  std::vector<std::int32_t> values(count_);
  for (std::size_t i = 0; i < count_; ++i) values[i] = static_cast<std::int32_t>(i * 7919 % 2003);
  std::vector<std::int64_t> expected(count_);
  std::partial_sum(values.begin(), values.end(), expected.begin(), std::plus<std::int64_t>());
  const Source numbers = source("values.i32", values);
  for (const std::size_t streams : {1u, 2u, 4u}) {
    for (const std::size_t chunk : {16384u, 262144u}) {
      Coordinator coordinator(test::make_device(GetParam()),
                              {.chunk_bytes = chunk, .streams = streams});
      const Stats stats =
          scan(coordinator, RunningIntegerSum{}, numbers, target("sums.i64", ElementType::i8))
              .stats;
      EXPECT_TRUE(stats.layout.in_order);
      EXPECT_TRUE(test::read_whole(dir_.path() / "sums.i64") ==
                  std::string(reinterpret_cast<const char*>(expected.data()),
                              expected.size() * sizeof(std::int64_t)))
          << streams << " streams, chunks of " << chunk;
    }
  }
}

// Rounded sums depend on where they are cut, and that depends on nothing but the operator.
TEST_P(ScanTest, HasTheSameBitsInChunksOfAnySize) {
  std::vector<float> values(count_);
  for (std::size_t i = 0; i < count_; ++i) values[i] = 1.0f / static_cast<float>(i % 1009 + 1);
  const Source numbers = source("values.f32", values);
  std::string first;
  for (const std::size_t streams : {1u, 3u}) {
    for (const std::size_t chunk : {std::size_t{0}, std::size_t{1} << 20}) {
      Coordinator coordinator(test::make_device(GetParam()),
                              {.chunk_bytes = chunk, .streams = streams});
      const std::array targets{target("sums.f32", ElementType::f4),
                               target("before.u32", ElementType::u4)};
      scan(coordinator, RunningFloatSum{}, numbers, targets);
      const std::string sums = test::read_whole(dir_.path() / "sums.f32");
      EXPECT_EQ(sums.size(), count_ * sizeof(float));
      if (first.empty()) first = sums;
      EXPECT_TRUE(sums == first);
      EXPECT_EQ(test::read_whole(dir_.path() / "before.u32").size(), count_ * 4);
    }
  }
}

TEST_P(ScanTest, EndsWhenAJoinFails) {
  const Source numbers = source("values.i32", std::vector<std::int32_t>(count_, 1));
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 16384, .streams = 3});
  try {
    scan(coordinator, FailingJoin{}, numbers, target("sums.i64", ElementType::i8));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "enough");
  }
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"values.i32"});
  scan(coordinator, RunningIntegerSum{}, numbers, target("sums.i64", ElementType::i8));
}

}  // namespace
}  // namespace ooc::detail
