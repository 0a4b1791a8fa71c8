// Tests the sums of weights, and the loop that adds to them.

#include "weighted_histogram/bin_sums.hpp"

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "io/expect_error.hpp"
#include "kernels/weighted_histogram/one_by_one.hpp"
#include "support/all_types.hpp"
#include "support/effort.hpp"
#include "support/special_values.hpp"
#include "weighted_histogram/weights.hpp"

namespace ooc::detail {
namespace {

using test::expect_same;

/// Loads saved sums of counters that have counted so many weights.
weighing::BinSums loaded(const weighing::BinSums& sums, ElementType type,
                         const std::vector<std::uint64_t>& counts = {2, 1}) {
  std::vector<std::byte> saved;
  sums.save(saved);
  return weighing::load_sums(saved, type, counts);
}

TEST(BinSums, SavedOnesAreChecked) {
  const weighing::BinSums sums{{5, 0, -1, 7, 1, 0}, {0, 0}};
  EXPECT_EQ(loaded(sums, ElementType::u8).limbs, sums.limbs);
  const auto refuses = [](const weighing::BinSums& wrong, ElementType type) {
    test::expect_error(ErrorKind::bad_input, "other sums", [&] { loaded(wrong, type); });
  };
  refuses(sums, ElementType::u4);
  refuses({{5, -1, 0, 0, 0, 0}, {0, 0}}, ElementType::u8);
  refuses({{std::int64_t{1} << 32, 0, 0, 0, 0, 0}, {0, 0}}, ElementType::u8);
  refuses({{0, 0, std::int64_t{1} << 62, 0, 0, 0}, {0, 0}}, ElementType::u8);
  refuses({{0, 0, 0, 0, 0, 0}, {0, 1}}, ElementType::u8);
}

TEST(BinSums, SavedOnesAreThoseOfSoManyWeights) {
  const auto refuses = [](const weighing::BinSums& wrong,
                          const std::vector<std::uint64_t>& counts) {
    test::expect_error(ErrorKind::bad_input, "other sums",
                       [&] { loaded(wrong, ElementType::i8, counts); });
  };
  const auto with = [](std::int64_t lowest, std::int64_t highest) {
    return weighing::BinSums{{lowest, 0, highest}, {0}};
  };
  EXPECT_EQ(loaded(with(1, 1), ElementType::i8, {2}).limbs[2], 1);
  EXPECT_EQ(loaded(with(1, -2), ElementType::i8, {2}).limbs[2], -2);
  EXPECT_EQ(loaded(with(0, 0), ElementType::i8, {0}).limbs[0], 0);
  refuses(with(1, 2), {2});
  refuses(with(1, -3), {2});
  refuses(with(1, 0), {0});
  refuses(with(0, 0), {weighing::most_weights + 1});
  std::vector<std::int64_t> none(weighing::limbs_of_sum(ElementType::f4));
  const weighing::BinSums nan{none, {weighing::NonFinite::nan}};
  EXPECT_EQ(loaded(nan, ElementType::f4, {1}).non_finite, nan.non_finite);
  test::expect_error(ErrorKind::bad_input, "other sums",
                     [&] { loaded(nan, ElementType::f4, {0}); });
}

TEST(BinSums, MergedOnesAreCarried) {
  weighing::BinSums total, part{{-1, 0}, {0}};
  for (int i = 0; i < 3; ++i) {
    weighing::BinSums more{{0xffff'ffff, 0x1000'0000}, {0}};
    total.merge(ElementType::u4, more);
    EXPECT_TRUE(more.limbs.empty());
  }
  EXPECT_EQ(total.limbs, (std::vector<std::int64_t>{0xffff'fffd, 0x3000'0002}));
  total.merge(ElementType::u4, part);
  expect_same(total.sum(ElementType::u4, 0), int128{0x3000'0002'ffff'fffc});
}

TEST(BinSums, MergedOnesKeepWhatIsNotFinite) {
  const auto of_one = [](std::uint32_t kinds) {
    return weighing::BinSums{std::vector<std::int64_t>(weighing::limbs_of_sum(ElementType::f4)),
                             {kinds}};
  };
  weighing::BinSums total, infinity = of_one(weighing::NonFinite::infinity), one = of_one(0);
  weighing::BinSums negative = of_one(weighing::NonFinite::negative_infinity);
  total.merge(ElementType::f4, infinity);
  total.merge(ElementType::f4, one);
  expect_same(total.sum(ElementType::f4, 0), test::infinity);
  total.merge(ElementType::f4, negative);
  expect_same(total.sum(ElementType::f4, 0), test::nan);
}

template <class T>
DeviceSpan<const std::byte> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

/// Without a carry, the limbs would overflow after 2^31 weights.
TEST(CpuWeightAdder, CarriesInTime) {
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const std::vector<std::uint32_t> weights(std::size_t{1} << 20, most);
  const std::vector<std::uint32_t> numbers(weights.size(), 3);
  const std::uint64_t past_31_bits = (std::uint64_t{1} << 31) / weights.size() + 2;
  const std::uint64_t rounds = test::effort(past_31_bits, past_31_bits / 100);
  const auto adder = weighing::make_cpu_weight_adder(ElementType::u4, 5, best_simd());
  for (std::uint64_t i = 0; i < rounds; ++i) adder->add(*stream, numbers.data(), bytes_of(weights));
  const weighing::BinSums sums = adder->take(*stream);
  expect_same(sums.sum(ElementType::u4, 3), int128{most} * rounds * weights.size());
  expect_same(sums.sum(ElementType::u4, 2), int128{0});
}

/// All levels of vector instructions give the same limbs.
TEST(CpuWeightAdder, VectorsMakeNoDifference) {
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  const std::size_t counters = 11, count = 5'003;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<std::uint32_t>(i * i % counters));
  const auto expect_no_difference = [&]<class T>(std::type_identity<T>) {
    const std::vector<T> weights = test::random_weights<T>(count, 9);
    const auto add = [&](Simd simd) {
      const auto adder = weighing::make_cpu_weight_adder(element_type_of<T>(), counters, simd);
      adder->add(*stream, numbers.data(), bytes_of(weights));
      return adder->take(*stream);
    };
    const weighing::BinSums expected = add(Simd::sse2);
    for (const Simd simd : {Simd::avx2, Simd::avx512}) {
      if (simd > best_simd()) continue;
      const weighing::BinSums found = add(simd);
      EXPECT_EQ(found.limbs, expected.limbs) << name_of(element_type_of<T>());
      EXPECT_EQ(found.non_finite, expected.non_finite) << name_of(element_type_of<T>());
    }
  };
  for (const ElementType type : test::all_types) visit(type, expect_no_difference);
}

}  // namespace
}  // namespace ooc::detail
