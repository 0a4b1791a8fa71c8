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

TEST(BinSums, SavedOnesAreChecked) {
  weighing::BinSums sums{{5, 0, -1, 7, 1, 0}, {0, 0}};
  std::vector<std::byte> saved;
  sums.save(saved);
  const auto loaded = weighing::load_sums(saved, ElementType::u8, 2);
  EXPECT_EQ(loaded.limbs, sums.limbs);
  const auto refuses = [](weighing::BinSums wrong, ElementType type) {
    std::vector<std::byte> bytes;
    wrong.save(bytes);
    test::expect_error(ErrorKind::bad_input, "other sums",
                       [&] { weighing::load_sums(bytes, type, 2); });
  };
  refuses(sums, ElementType::u4);
  refuses({{5, -1, 0, 0, 0, 0}, {0, 0}}, ElementType::u8);
  refuses({{std::int64_t{1} << 32, 0, 0, 0, 0, 0}, {0, 0}}, ElementType::u8);
  refuses({{0, 0, std::int64_t{1} << 62, 0, 0, 0}, {0, 0}}, ElementType::u8);
  refuses({{0, 0, 0, 0, 0, 0}, {0, 1}}, ElementType::u8);
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
