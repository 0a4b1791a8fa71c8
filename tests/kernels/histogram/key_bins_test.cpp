#include "histogram/key_bins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "histogram/count.hpp"
#include "support/all_types.hpp"
#include "support/bits.hpp"
#include "support/values_file.hpp"

namespace ooc::detail::binning {
namespace {

/// Expects that keys have the order of the elements, with -0 before +0, and stand for one each.
template <class T>
void expect_order(const std::vector<T>& elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const T one = elements[i], other = elements[(i * 7 + 1) % elements.size()];
    EXPECT_EQ(test::bits_of(element_of<T>(key_of(one))), test::bits_of(one));
    if (is_a_nan(one) || is_a_nan(other)) continue;
    if constexpr (is_floating<T>) {
      const double a = to_double(one), b = to_double(other);
      const bool before = a < b || (a == b && std::signbit(a) && !std::signbit(b));
      EXPECT_EQ(key_of(one) < key_of(other), before) << a << " and " << b;
    } else {
      EXPECT_EQ(key_of(one) < key_of(other), one < other);
    }
  }
}

TEST(KeyBins, KeysHaveTheOrderOfValues) {
  for (const ElementType type : test::all_types) {
    visit(type, []<class T>(std::type_identity<T>) {
      std::vector<T> elements = test::random_bits<T>(2000);
      if constexpr (sizeof(T) == 2) {
        elements.clear();
        for (std::uint32_t bits = 0; bits < 65'536; ++bits)
          elements.push_back(test::from_bits<T>(bits));
      }
      if constexpr (std::is_floating_point_v<T>) {
        using Limits = std::numeric_limits<T>;
        for (const T value : {T{0}, Limits::infinity(), Limits::max(), Limits::denorm_min()}) {
          elements.push_back(value);
          elements.push_back(-value);
        }
      }
      expect_order(elements);
    });
  }
}

TEST(KeyBins, NanHaveTheirOwnCounter) {
  const KeyRanges all{.shift = 16, .bits = 16, .firsts = {0}, .short_firsts = {0}};
  const KeyBins<float> bins(all);
  for (const std::uint32_t bits : {0x7f80'0001u, 0x7fff'ffffu, 0xff80'0001u, 0xffff'ffffu}) {
    EXPECT_EQ(bins.bin_of(std::bit_cast<float>(bits)), static_cast<std::uint32_t>(bins.nan()));
  }
  EXPECT_EQ(bins.bin_of(std::numeric_limits<float>::infinity()), 0xff80u);
}

/// Returns ranges that begin at the keys of some of the elements.
template <class T>
KeyRanges ranges_at(const std::vector<T>& elements, std::size_t count, std::uint32_t shift,
                    std::uint32_t bits) {
  KeyRanges ranges{.shift = shift, .bits = bits};
  for (std::size_t i = 0; i < count; ++i) {
    ranges.firsts.push_back(std::uint64_t{key_of(elements[i])} >> (shift + bits) << (shift + bits));
  }
  std::ranges::sort(ranges.firsts);
  const auto same = std::ranges::unique(ranges.firsts);
  ranges.firsts.erase(same.begin(), same.end());
  for (const std::uint64_t first : ranges.firsts)
    ranges.short_firsts.push_back(static_cast<std::uint32_t>(first));
  return ranges;
}

template <class T>
void expect_counts(const std::vector<T>& elements, const KeyRanges& ranges) {
  const KeyBins<T> bins(ranges);
  std::vector<std::uint64_t> expected(ranges.counters());
  for (const T element : elements) ++expected[bins.bin_of(element)];
  EXPECT_LT(*std::ranges::max_element(expected), elements.size());
  for (const Simd simd : supported_simd()) {
    const auto counter = make_cpu_counter(element_type_of<T>(), ranges, simd);
    std::vector<std::uint64_t> counts(ranges.counters());
    const auto device = make_device(DeviceKind::cpu);
    const auto stream = device->make_stream();
    counter->count(*stream, {reinterpret_cast<const std::byte*>(elements.data()),
                             elements.size() * sizeof(T)});
    counter->add_to(counts);
    EXPECT_EQ(counts, expected) << "level " << static_cast<int>(simd);
  }
}

TEST(KeyBins, AreTheSameAtEachLevelOfVectorInstructions) {
  for (const std::size_t ranges : {1, 2, 64, 65, 900}) {  // few are found in another way
    SCOPED_TRACE(ranges);
    const auto floats = test::varied_values<float>(20'001);
    expect_counts(floats, ranges_at(floats, ranges, 7, 9));
    const auto doubles = test::varied_values<double>(20'001);
    expect_counts(doubles, ranges_at(doubles, ranges, 40, 8));
    const auto integers = test::random_bits<std::int64_t>(20'001);
    expect_counts(integers, ranges_at(integers, ranges, 44, 9));
  }
}

}  // namespace
}  // namespace ooc::detail::binning
