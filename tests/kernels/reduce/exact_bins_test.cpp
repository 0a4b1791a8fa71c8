#include "reduce/exact_bins.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/bits.hpp"
#include "support/devices.hpp"

namespace ooc::detail::reduction {
namespace {

using test::from_bits;

/// NaN, infinities, zeros, and the extreme finite values.
template <class T>
std::vector<T> extreme_values() {
  std::vector<T> values;
  constexpr unsigned bits = 8 * sizeof(T);
  constexpr std::uint64_t exponents = std::is_same_v<T, double>    ? 0x7ff0000000000000
                                      : std::is_same_v<T, float>   ? 0x7f800000
                                      : std::is_same_v<T, Float16> ? 0x7c00
                                                                   : 0x7f80;
  constexpr std::uint64_t least_normal = exponents & ~(exponents << 1);
  for (const std::uint64_t magnitude :
       {exponents + 1, exponents, exponents - 1, exponents / 2, least_normal, least_normal - 1,
        std::uint64_t{1}, std::uint64_t{0}}) {
    values.push_back(from_bits<T>(magnitude));
    values.push_back(from_bits<T>(magnitude | std::uint64_t{1} << (bits - 1)));
  }
  return values;
}

template <class T>
std::map<std::string, std::vector<T>> data_to_add(std::size_t count) {
  std::mt19937_64 random(count);
  const std::vector<T> special = extreme_values<T>();
  const auto fill = [&](auto make) {
    std::vector<T> values(count);
    std::ranges::generate(values, make);
    return values;
  };
  std::map<std::string, std::vector<T>> data;
  data["random bits"] = fill([&] { return from_bits<T>(random()); });
  data["special"] = fill([&] { return special[random() % special.size()]; });
  for (std::size_t i = 0; i < special.size(); ++i) {
    data["constant " + std::to_string(i)] = std::vector<T>(count, special[i]);
  }
  data["almost constant"] = std::vector<T>(count, special[4]);  // the largest value
  data["almost constant"].back() = special[12];                 // the smallest value
  return data;
}

/// Adds the finite values one by one, each as an integer and an exponent, which is from frexp().
template <class T>
ExactSum add_one_by_one(const std::vector<T>& values) {
  ExactSum sum;
  for (const T value : values) {
    const double number = to_double(value);
    if (!std::isfinite(number)) continue;
    int exponent = 0;
    std::frexp(number, &exponent);
    const int lowest = std::max(exponent - 53, -1074);
    sum.add(static_cast<std::uint64_t>(std::ldexp(std::abs(number), -lowest)),
            ExactSum::position_of(lowest), number < 0);
  }
  sum.carry();
  return sum;
}

template <class T>
class ExactBinsTest : public testing::Test {};

using Added = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactBinsTest, Added);

TYPED_TEST(ExactBinsTest, HoldTheSumOfWhatIsFinite) {
  using T = TypeParam;
  ExactBins<T> bins;  // reused throughout, since take() empties them
  for (const std::size_t count : {0, 1, 3, 4, 5, 1000, 65536}) {
    for (const auto& [sort, values] : data_to_add<T>(std::max<std::size_t>(count, 1))) {
      SCOPED_TRACE(sort + ", " + std::to_string(count) + " elements");
      bins.add(values.data(), count);
      const std::vector<T> added(values.begin(), values.begin() + static_cast<long>(count));
      EXPECT_EQ(bins.take().limbs, add_one_by_one(added).limbs);
    }
  }
}

// All fractions are ones, so that each bin is as full as possible.
TYPED_TEST(ExactBinsTest, AreEmptiedBeforeTheyOverflow) {
  using T = TypeParam;
  const T full = std::nextafter(T{-2}, T{0});
  const std::vector<T> values(ExactBins<T>::most_elements, full);
  const std::size_t part = values.size() / 16;
  ExactBins<T> bins;
  constexpr std::size_t parts = 50;
  for (std::size_t i = 0; i < parts; ++i) bins.add(values.data(), part);
  EXPECT_EQ(bins.take().rounded(parts * part), full);
  bins.add(values.data(), values.size());
  bins.add(values.data(), 1);
  EXPECT_EQ(bins.take().rounded(values.size() + 1), full);
}

template <class T>
class ExactSumOnTheGpu : public testing::Test {};

using Floating = testing::Types<Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(ExactSumOnTheGpu, Floating);

TYPED_TEST(ExactSumOnTheGpu, IsTheSame) {
  using T = TypeParam;
  OOC_SKIP_WITHOUT(DeviceKind::cuda);
  const auto device = make_device(DeviceKind::cuda);
  device->bind_to_thread();
  const auto stream = device->make_stream();
  for (const std::size_t count : {1, 63, 257, 8191, 8192, 8193, 1'000'003}) {
    for (const auto& [sort, values] : data_to_add<T>(count)) {
      SCOPED_TRACE(sort + ", " + std::to_string(count) + " elements");
      const Buffer on_device(device->device_memory(), count * sizeof(T));
      stream->copy(on_device.data(), values.data(), count * sizeof(T));
      ExactSum expected = add_one_by_one(values);
      ExactSum found;
      add_exactly_cuda(*stream, element_type_of<T>(), on_device.data(), count, found);
      EXPECT_EQ(found.limbs, expected.limbs);

      // The GPU adds to the existing sum.
      expected.merge(ExactSum{expected});
      add_exactly_cuda(*stream, element_type_of<T>(), on_device.data(), count, found);
      EXPECT_EQ(found.limbs, expected.limbs);
    }
  }
}

}  // namespace
}  // namespace ooc::detail::reduction
