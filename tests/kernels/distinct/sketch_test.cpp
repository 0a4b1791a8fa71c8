#include "distinct/sketch.hpp"

#include <ooc/distinct.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "support/all_types.hpp"
#include "support/bits.hpp"

namespace ooc::detail::distincts {
namespace {

TEST(DistinctSketch, HashIsTheOutputOfSplitMix64) {
  EXPECT_EQ(hash_of(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(hash_of(0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);
}

TEST(DistinctSketch, EstimatesAreWithinTheirError) {
  const auto sketch = std::make_unique<Sketch>();
  std::uint64_t added = 0;
  EXPECT_EQ(sketch->estimate(), 0);
  for (const std::uint64_t values : {1, 10, 1'000, 20'000, 100'000, 3'000'000}) {
    for (; added < values; ++added) sketch->add(hash_of(added));
    const auto number = static_cast<double>(values);
    EXPECT_NEAR(sketch->estimate(), number, 3 * distinct_relative_error * number) << values;
    EXPECT_TRUE(is_likely(number, sketch->estimate()));
    EXPECT_FALSE(is_likely(1.1 * number + 10, sketch->estimate()));
    EXPECT_FALSE(is_likely(number, 1.1 * number + 10));
  }
}

TEST(DistinctSketch, MergedIsThatOfAllValues) {
  const auto one = std::make_unique<Sketch>(), other = std::make_unique<Sketch>(),
             all = std::make_unique<Sketch>();
  for (std::uint64_t value = 0; value < 50'000; ++value) {
    (value % 3 == 0 ? one : other)->add(hash_of(value));
    all->add(hash_of(value));
  }
  one->merge(*other);
  EXPECT_TRUE(*one == *all);
}

TEST(DistinctSketch, RanksCountTheZerosOfATail) {
  const auto sketch = std::make_unique<Sketch>();
  sketch->add(std::uint64_t{5} << hash_bits_left);
  EXPECT_EQ(sketch->ranks()[5], largest_rank);
  sketch->add((std::uint64_t{6} << hash_bits_left) + 1);
  EXPECT_EQ(sketch->ranks()[6], largest_rank - 1);
  sketch->add(~std::uint64_t{0});
  EXPECT_EQ(sketch->ranks()[registers - 1], 1);
}

TEST(DistinctSketch, ZerosOfBothSignsHaveTheSameBits) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
      EXPECT_EQ(bits_of(test::from_bits<T>(0)), 0u);
      EXPECT_EQ(bits_of(test::from_bits<T>(sign)), is_floating<T> ? 0 : sign) << name_of(type);
      EXPECT_EQ(bits_of(test::from_bits<T>(sign + 1)), sign + 1);
    });
  }
}

}  // namespace
}  // namespace ooc::detail::distincts
