#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/reduce/reduce_fixture.hpp"
#include "support/bits.hpp"
#include "support/special_values.hpp"

// Tests reduce() with NaN, infinity and both zeros among the values.

namespace ooc::detail {
namespace {

using test::infinity;
using test::nan;
using test::ReduceTest;

TEST_P(ReduceTest, NanSpreadsOrIsLeftOut) {
  std::vector<double> values(3 * tile_elements, 2.0);
  values[70'000] = nan;
  values[140'000] = -nan;
  values[150'000] = 5;
  const Source source = source_of(values);

  Statistics found = reduce_it(source);
  EXPECT_EQ(found.count, values.size());
  EXPECT_EQ(found.nan, 2u);
  for (const double value :
       {std::get<double>(found.sum), std::get<double>(found.min), std::get<double>(found.max),
        *found.mean, *found.variance, *found.stddev}) {
    EXPECT_EQ(test::bits_of(value), test::bits_of(nan));
  }
  EXPECT_EQ(found.argmin, 70'000u);
  EXPECT_EQ(found.argmax, 70'000u);

  found = reduce_it(source, {.nan = NanPolicy::omit});
  const auto numbers = static_cast<double>(values.size() - 2);
  EXPECT_EQ(found.nan, 2u);
  EXPECT_EQ(found.sum, Scalar{2 * numbers + 3});
  EXPECT_EQ(found.min, Scalar{2.0});
  EXPECT_EQ(found.argmin, 0u);
  EXPECT_EQ(found.argmax, 150'000u);
  EXPECT_DOUBLE_EQ(*found.mean, 2 + 3 / numbers);
  EXPECT_NEAR(*found.variance, 9 / numbers * (1 - 1 / numbers), 1e-15);
}

TEST_P(ReduceTest, OnlyNan) {
  const Source source = source_of(std::vector<float>(70'000, static_cast<float>(nan)));
  EXPECT_EQ(reduce_it(source).argmax, 0u);
  const Statistics found = reduce_it(source, {.nan = NanPolicy::omit});
  EXPECT_EQ(found.nan, 70'000u);
  EXPECT_EQ(found.sum, Scalar{0.0});
  EXPECT_EQ(test::bits_of(found.min), test::bits_of(nan));
  EXPECT_EQ(test::bits_of(found.max), test::bits_of(nan));
  EXPECT_EQ(test::bits_of(*found.mean), test::bits_of(nan));
  EXPECT_EQ(test::bits_of(*found.variance), test::bits_of(nan));
  EXPECT_FALSE(found.argmin || found.argmax);
}

TEST_P(ReduceTest, InfinityAsInNumPy) {
  std::vector<double> values(100'000, 1.0);
  values[80'000] = infinity;
  Statistics found = reduce_it(source_of(values));
  EXPECT_EQ(found.sum, Scalar{infinity});
  EXPECT_EQ(found.max, Scalar{infinity});
  EXPECT_EQ(found.inf, 1u);
  EXPECT_EQ(found.argmax, 80'000u);
  EXPECT_EQ(*found.mean, infinity);
  EXPECT_EQ(test::bits_of(*found.variance), test::bits_of(nan));

  values[3] = -infinity;
  found = reduce_it(source_of(values));
  EXPECT_EQ(test::bits_of(found.sum), test::bits_of(nan));
  EXPECT_EQ(test::bits_of(*found.mean), test::bits_of(nan));
  EXPECT_EQ(found.argmin, 3u);
  EXPECT_EQ(found.argmax, 80'000u);
  EXPECT_EQ(found.inf, 2u);
}

TEST_P(ReduceTest, InfinitiesOfEachType) {
  const auto expect_count = [&]<class T>(T large, T small) {
    std::vector<T> values(200'000, small);
    for (std::size_t i = 0; i < values.size(); i += 1001) values[i] = large;
    for (const NanPolicy policy : {NanPolicy::propagate, NanPolicy::omit}) {
      EXPECT_EQ(reduce_it(source_of(values), {.nan = policy}).inf, 200u);
    }
  };
  expect_count(infinity, 1.0);
  expect_count(static_cast<float>(-infinity), 1.0f);
  expect_count(Float16{0x7c00}, Float16{0x7bff});
  expect_count(BFloat16{0xff80}, BFloat16{0xff7f});
}

/// Expects the extremes that NumPy finds: the first of the extreme elements, where -0 equals +0, by
/// value and by index.
template <class T>
void expect_extremes(const Statistics& found, const std::vector<T>& values) {
  const auto less = [](T left, T right) { return to_double(left) < to_double(right); };
  const auto begin = values.begin();
  const auto min = std::min_element(begin, values.end(), less);
  const auto max = std::max_element(begin, values.end(), less);
  EXPECT_EQ(found.argmin, static_cast<std::uint64_t>(min - begin));
  EXPECT_EQ(found.argmax, static_cast<std::uint64_t>(max - begin));
  EXPECT_EQ(test::bits_of(found.min), test::bits_of(to_double(*min)));
  EXPECT_EQ(test::bits_of(found.max), test::bits_of(to_double(*max)));
}

template <class T>
T zero(bool negative) {
  return test::from_bits<T>(std::uint64_t{negative} << (8 * sizeof(T) - 1));
}

/// Calls body.operator()<T>() for each floating type.
template <class Body>
void for_each_floating_type(Body body) {
  for (const ElementType type :
       {ElementType::f2, ElementType::bf16, ElementType::f4, ElementType::f8}) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      if constexpr (is_floating<T>) body.template operator()<T>();
    });
  }
}

TEST_P(ReduceTest, BothZerosAreEqual) {
  std::mt19937_64 random(6);
  for_each_floating_type([&]<class T>() {
    for (const std::size_t count : {3, 3000, 70'000, 300'000}) {
      for (const bool first : {false, true}) {
        for (const std::uint64_t one_of : {2, 1000, 100'000}) {
          std::vector<T> values(count);
          for (T& value : values) value = zero<T>(first != (random() % one_of == 0));
          values.front() = zero<T>(first);
          const Source source = source_of(values);
          for (const std::size_t tiles : {1, 3}) {
            const Options options{.chunk_bytes = tiles * tile_elements * sizeof(T), .streams = 3};
            Coordinator coordinator(make_device(GetParam()), options);
            expect_extremes(reduce(coordinator, source).value, values);
          }
        }
      }
    }
  });
}

TEST_P(ReduceTest, BothZerosBesideNan) {
  for_each_floating_type([&]<class T>() {
    const T no_number = test::from_bits<T>(~std::uint64_t{0});
    for (const bool first : {false, true}) {
      std::vector<T> values(200'000, zero<T>(!first));
      values[1000] = no_number;
      values[1] = values[150'000] = zero<T>(first);
      Statistics found = reduce_it(source_of(values));
      EXPECT_EQ(found.argmin, 1000u);
      EXPECT_EQ(found.argmax, 1000u);
      EXPECT_EQ(test::bits_of(found.min), test::bits_of(nan));

      values[0] = no_number;
      found = reduce_it(source_of(values), {.nan = NanPolicy::omit});
      EXPECT_EQ(found.argmin, 1u);
      EXPECT_EQ(found.argmax, 1u);
      EXPECT_EQ(test::bits_of(found.min), test::bits_of(to_double(values[1])));
      EXPECT_EQ(test::bits_of(found.max), test::bits_of(to_double(values[1])));
    }
  });
}

}  // namespace
}  // namespace ooc::detail
