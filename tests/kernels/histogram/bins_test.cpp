#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "histogram/count.hpp"
#include "support/effort.hpp"
#include "support/special_values.hpp"

namespace ooc::detail::binning {
namespace {

using Range = HistogramOptions::Range;

using test::infinity;
using test::nan;
using test::smallest;

Bins even(std::size_t count, Range range) {
  HistogramOptions options;
  options.bins = count;
  options.range = range;
  check(options);
  return make_bins(options, range, ErrorKind::usage);
}

Bins logarithmic(std::size_t count, Range range) {
  HistogramOptions options;
  options.bins = count;
  options.logarithmic = true;
  return make_bins(options, range, ErrorKind::usage);
}

Bins listed(std::vector<double> edges) {
  HistogramOptions options;
  options.edges = std::move(edges);
  check(options);
  return make_bins(options, {}, ErrorKind::usage);
}

std::uint32_t bin_of(const Bins& bins, double value) {
  return visit(bins, [value](const auto& found) { return found.bin_of(value); });
}

/// Finds the bin as NumPy does, step by step, with a table of edges.
std::size_t numpy_bin(const std::vector<double>& edges, double value) {
  const std::size_t bins = edges.size() - 1;
  if (std::isnan(value)) return bins + 2;
  if (value < edges.front()) return bins;
  if (value > edges.back()) return bins + 1;
  const double norm = static_cast<double>(bins) / (edges.back() - edges.front());
  auto index = static_cast<std::size_t>((value - edges.front()) * norm);
  if (index == bins) --index;
  if (value < edges[index]) --index;
  if (value >= edges[index + 1] && index != bins - 1) ++index;
  return index;
}

/// Edges with their neighbours on both sides, values between them, and values far away.
std::vector<double> interesting_values(const Bins& bins, std::mt19937_64& random) {
  std::vector<double> values{0.0,   -0.0,   infinity, -infinity, nan,    smallest, -smallest,
                             1e308, -1e308, 0.5,      -nan,      2e-308, 1.0,      -1.0};
  const std::size_t stride = std::max<std::size_t>(1, bins.edges.size() / 500);
  for (std::size_t i = 0; i < bins.edges.size(); i += stride) {
    const double edge = bins.edges[i];
    values.insert(values.end(),
                  {edge, std::nextafter(edge, infinity), std::nextafter(edge, -infinity)});
  }
  std::uniform_real_distribution<double> between(0, 1);
  for (int i = 0; i < 1000; ++i) {
    const double share = between(random) * 1.1 - 0.05;
    values.push_back(bins.edges.front() + share * (bins.edges.back() - bins.edges.front()));
  }
  return values;
}

TEST(Bins, EdgesAreThoseOfLinspace) {
  EXPECT_EQ(even(7, {0.1, 0.7}).edges,
            (std::vector{0x1.999999999999ap-4, 0x1.7c57c57c57c58p-3, 0x1.15f15f15f15f2p-2,
                         0x1.6db6db6db6db6p-2, 0x1.c57c57c57c57cp-2, 0x1.0ea0ea0ea0ea1p-1,
                         0x1.3a83a83a83a83p-1, 0x1.6666666666666p-1}));
  EXPECT_EQ(even(3, {0, 3 * smallest}).edges,  // where numpy.histogram fails
            (std::vector{0.0, smallest, 2 * smallest, 3 * smallest}));
  EXPECT_EQ(even(2, {1, 1 + 0x1p-51}).edges, (std::vector{1.0, 1 + 0x1p-52, 1 + 0x1p-51}));
  EXPECT_EQ(even(2, {3, 3}).edges, (std::vector{2.5, 3.0, 3.5}));
}

/// True if the edges that NumPy computes rise.
bool fits(std::size_t count, Range range) {
  const double step = (range.upper - range.lower) / static_cast<double>(count);
  const auto edge = [&](std::size_t index) {
    return index == count ? range.upper : static_cast<double>(index) * step + range.lower;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (edge(i) >= edge(i + 1)) return false;
  }
  return true;
}

TEST(Bins, ZeroHasOneSign) {
  EXPECT_FALSE(std::signbit(even(2, {-0.0, 1}).edges.front()));
  EXPECT_FALSE(std::signbit(even(2, {-1, -0.0}).edges.back()));
}

TEST(Bins, LogarithmicEdgesRiseBetweenExactEnds) {
  const Bins decades = logarithmic(6, {0.001, 1000});
  for (std::size_t i = 0; i <= 6; ++i) {
    const double exact = std::pow(10.0, static_cast<double>(i) - 3);
    EXPECT_NEAR(decades.edges[i], exact, exact * 1e-14);
  }
  for (const Range range : {Range{0.3, 0.7}, Range{1, 1.000000001}, Range{1e-300, 1e300}}) {
    const Bins bins = logarithmic(100'000, range);
    EXPECT_EQ(bins.edges.front(), range.lower);
    EXPECT_EQ(bins.edges.back(), range.upper);
    EXPECT_TRUE(std::is_sorted(bins.edges.begin(), bins.edges.end()));
  }
}

TEST(Bins, EvenBinsAreThoseOfNumPy) {
  std::mt19937_64 random(1);
  const Range ranges[] = {{0, 1},       {0.1, 0.7},       {-1.0 / 3, 1e3 / 7},
                          {0, 256},     {-1e150, 1e150},  {1e-300, 3e-300},
                          {-128, 128},  {1e15, 1e15 + 1}, {0.999999, 1},
                          {-5e-300, 7}, {0, 1.7e308},     {4503599627370495, 4503599627370497}};
  for (const Range range : ranges) {
    for (const std::size_t count : {1, 2, 3, 7, 10, 255, 256, 1000, 99'999, 1 << 20}) {
      if (!fits(count, range)) {
        EXPECT_THROW(even(count, range), Error);
        continue;
      }
      const Bins bins = even(count, range);
      ASSERT_TRUE(bins.even);
      for (const double value : interesting_values(bins, random)) {
        ASSERT_EQ(bin_of(bins, value), numpy_bin(bins.edges, value))
            << value << " in " << count << " bins from " << range.lower << " to " << range.upper;
      }
    }
  }
}

TEST(Bins, ValuesFallBetweenTheirEdges) {
  std::mt19937_64 random(2);
  const Bins all[] = {even(10, {0.1, 0.7}),   even(1000, {-3, 1e9}),
                      even(300, {0, 2e-321}), logarithmic(256, {1e-5, 1e5}),
                      logarithmic(1, {1, 2}), listed({-1, 0, 0, 1, 1e100, 2e100, 2e100}),
                      listed({5, 5}),         listed({-1e308, 1e308})};
  for (const Bins& bins : all) {
    for (const double value : interesting_values(bins, random)) {
      const std::size_t bin = bin_of(bins, value);
      const std::size_t count = bins.size();
      if (std::isnan(value)) {
        EXPECT_EQ(bin, count + 2);
      } else if (value < bins.edges.front()) {
        EXPECT_EQ(bin, count);
      } else if (value > bins.edges.back()) {
        EXPECT_EQ(bin, count + 1);
      } else {
        ASSERT_LT(bin, count);
        EXPECT_LE(bins.edges[bin], value);
        EXPECT_TRUE(value < bins.edges[bin + 1] || (bin + 1 == count && value == bins.edges[count]))
            << value << " in bin " << bin;
      }
    }
  }
}

void expect_error(ErrorKind kind, const HistogramOptions& options) {
  try {
    check(options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
  }
}

TEST(Bins, OptionsThatMakeNoSense) {
  const Range ranges[] = {
      {1, 0}, {nan, 1}, {0, nan}, {0, infinity}, {-infinity, 0}, {-1.7e308, 1.7e308}, {1e17, 1e17}};
  for (const Range range : ranges) expect_error(ErrorKind::usage, {.range = range});
  for (const Range range : {Range{0, 1}, Range{-1, 1}, Range{0.25, 0.25}}) {
    expect_error(ErrorKind::usage, {.range = range, .logarithmic = true});
  }
  expect_error(ErrorKind::usage, {.bins = 0});
  expect_error(ErrorKind::usage, {.bins = max_bins + 1});
  // Some bins have no width.
  expect_error(ErrorKind::usage, {.bins = 10, .range = {{1, 1 + 2e-16}}});
  expect_error(ErrorKind::usage, {.bins = 4, .range = {{0, 3 * smallest}}});
  expect_error(ErrorKind::usage, {.bins = 10, .range = {{1, 1 + 2e-16}}, .logarithmic = true});
  expect_error(ErrorKind::usage, {.edges = {1}});
  expect_error(ErrorKind::usage, {.edges = {1, 2, 1.5}});
  expect_error(ErrorKind::usage, {.edges = {1, infinity}});
  expect_error(ErrorKind::usage, {.edges = {nan, 1}});
  expect_error(ErrorKind::usage, {.edges = std::vector<double>(max_bins + 2)});
}

TEST(Bins, FoundRangesWithoutRoomAreBadInput) {
  for (const Range range : {Range{1e17, 1e17}, {-1.7e308, 1.7e308}, {1, 1 + 2e-16}}) {
    try {
      make_bins({}, range, ErrorKind::bad_input);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
      EXPECT_NE(advice(error.details()).find("set HistogramOptions::range"), std::string::npos);
    }
  }
}

// --- the loops of the CPU -----------------------------------------------------------------------

std::vector<std::uint64_t> counts_of(BinCounter& counter, Stream& stream, const Bins& bins) {
  std::vector<std::uint64_t> counts(bins.counters());
  counter.finish(stream);
  counter.add_to(counts);
  return counts;
}

template <class T>
DeviceSpan<const std::byte> bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()};
}

/// Random bit patterns, which give values of every magnitude, and some common values.
template <class T>
std::vector<T> values_of_all_sorts(std::size_t count, const Bins& bins) {
  std::mt19937_64 random(3);
  std::vector<T> values(count);
  for (T& value : values) {
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
  }
  if constexpr (std::is_floating_point_v<T>) {
    const std::vector<double> interesting = interesting_values(bins, random);
    for (std::size_t i = 0; i < count; i += 2) {
      values[i] = static_cast<T>(interesting[random() % interesting.size()]);
    }
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    for (std::size_t i = 0; i < count; i += 3) values[i] = static_cast<T>(random() % 300);
    values[0] = Limits::min();
    values[count - 1] = Limits::max();
  }
  return values;
}

template <class T>
class EachType : public testing::Test {};

using Types =
    testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, Float16, float, double, BFloat16>;
TYPED_TEST_SUITE(EachType, Types);

TYPED_TEST(EachType, AllLevelsCountAsOneByOne) {
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  const Bins all[] = {even(256, {0, 256}),           even(1000, {-1e9, 1e10}),
                      even(1 << 20, {-1e19, 2e19}),  even(3, {-1e-3, 1e-3}),
                      logarithmic(77, {1e-3, 1e10}), listed({-5, 0, 0, 7, 7.5, 1e12, 1e12})};
  for (const Bins& bins : all) {
    const auto values = values_of_all_sorts<TypeParam>(20'011, bins);
    std::vector<std::uint64_t> expected(bins.counters());
    for (const TypeParam value : values) ++expected[bin_of(bins, to_double(value))];
    for (const Simd simd : supported_simd()) {
      const auto counter = make_cpu_counter(element_type_of<TypeParam>(), bins, simd);
      const std::span all_values(values);
      std::size_t done = 0;
      for (const std::size_t piece : {0, 1, 511, 512, 513, 1024, 10'007}) {
        counter->count(*stream, bytes_of(all_values.subspan(done, piece)));
        done += piece;
      }
      counter->count(*stream, bytes_of(all_values.subspan(done)));
      ASSERT_EQ(counts_of(*counter, *stream, bins), expected) << "level " << static_cast<int>(simd);
    }
  }
}

TYPED_TEST(EachType, AllLevelsFindTheExtremes) {
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  for (const std::size_t count : {1, 2, 511, 512, 513, 5000}) {
    const auto values = values_of_all_sorts<TypeParam>(count, even(10, {0, 1}));
    Extremes expected;
    for (const TypeParam element : values) {
      const double value = to_double(element);
      if (std::isnan(value))
        ++expected.nan;
      else if (value == infinity)
        ++expected.positive_infinities;
      else if (value == -infinity)
        ++expected.negative_infinities;
      else {
        expected.lowest = std::min(expected.lowest, value);
        expected.highest = std::max(expected.highest, value);
      }
    }
    for (const Simd simd : supported_simd()) {
      const auto finder = make_cpu_finder(element_type_of<TypeParam>(), simd);
      finder->look(*stream, bytes_of(std::span(values).first(count / 3)));
      finder->look(*stream, bytes_of(std::span(values).subspan(count / 3)));
      const Extremes found = finder->finish(*stream);
      EXPECT_EQ(found.lowest, expected.lowest) << "level " << static_cast<int>(simd);
      EXPECT_EQ(found.highest, expected.highest);
      EXPECT_EQ(found.nan, expected.nan);
      EXPECT_EQ(found.negative_infinities, expected.negative_infinities);
      EXPECT_EQ(found.positive_infinities, expected.positive_infinities);
    }
  }
}

/// Compares the counts at each level of vector instructions with the definition.
template <class T>
void expect_definition(const Bins& bins, std::span<const T> values) {
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<std::uint64_t> expected(bins.counters());
  for (const T value : values) ++expected[bin_of(bins, to_double(value))];
  for (const Simd simd : supported_simd()) {
    const auto counter = make_cpu_counter(element_type_of<T>(), bins, simd);
    counter->count(*stream, bytes_of(values));
    ASSERT_EQ(counts_of(*counter, *stream, bins), expected) << "level " << static_cast<int>(simd);
  }
}

/// Returns values half a bin from each edge, then ever closer ones, then some outside. The counter
/// stops guessing bins where many guesses are wrong.
template <class T>
std::vector<T> values_around_edges(const Bins& bins) {
  constexpr double lowest = static_cast<double>(std::numeric_limits<T>::lowest());
  constexpr double highest = static_cast<double>(std::numeric_limits<T>::max());
  const double width = bins.edges[1] - bins.edges[0];
  std::vector<T> values;
  for (double distance = 0.5; distance > 0x1p-40; distance /= 2) {
    for (const double side : {-1.0, 1.0}) {
      for (const double edge : bins.edges) {
        const double value = edge + side * distance * width;
        values.push_back(static_cast<T>(std::clamp(value, lowest, highest)));
      }
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    // A single value close to either end, among values that are certainly in the first bin.
    for (const double end : {bins.edges.front(), bins.edges.back()}) {
      T value = static_cast<T>(end);
      for (int i = 0; i < 32; ++i) value = std::nextafter(value, static_cast<T>(-infinity));
      for (int i = 0; i < 64; ++i) {
        values.insert(values.end(), 511, static_cast<T>(bins.edges.front() + width / 2));
        values.push_back(value = std::nextafter(value, static_cast<T>(infinity)));
      }
    }
    for (int i = 0; i < 100; ++i) {
      for (const double value : {infinity, -infinity, nan, lowest, highest}) {
        values.push_back(static_cast<T>(value));
      }
    }
  }
  return values;
}

TEST(CpuCounter, GuessesOfBinsAreExact) {
  const Range ranges[] = {{0, 256},     {-4, 4},        {0.1, 0.7},     {-1.0 / 3, 1e3 / 7},
                          {1000, 1001}, {-3e9, 5e9},    {1e-38, 3e-38}, {-1e38, 3e38},
                          {1e30, 2e30}, {1e-44, 1e-37}, {-1e150, 1e150}};
  for (const Range range : ranges) {
    for (const std::size_t count : {1, 7, 256, 1000, 5000}) {
      SCOPED_TRACE(std::to_string(count) + " bins from " + std::to_string(range.lower));
      const Bins bins = even(count, range);
      expect_definition<float>(bins, values_around_edges<float>(bins));
      expect_definition<std::int32_t>(bins, values_around_edges<std::int32_t>(bins));
      expect_definition<std::uint32_t>(bins, values_around_edges<std::uint32_t>(bins));
    }
  }
}

TEST(CpuCounter, CountsPast32Bits) {
  const std::unique_ptr<Device> device = make_device(DeviceKind::cpu);
  const std::unique_ptr<Stream> stream = device->make_stream();
  const Bins bins = even(100'000, {0, 100'000});  // too many bins for several tables
  const auto counter = make_cpu_counter(ElementType::f4, bins, best_simd());
  const std::vector<float> values(std::size_t{1} << 20, 200);
  const std::uint64_t past_32_bits = (std::uint64_t{1} << 32) / values.size() + 1;
  const std::uint64_t rounds = test::effort(past_32_bits, past_32_bits / 100);
  for (std::uint64_t i = 0; i < rounds; ++i) counter->count(*stream, bytes_of(std::span(values)));
  EXPECT_EQ(counts_of(*counter, *stream, bins)[200], rounds * values.size());
}

}  // namespace
}  // namespace ooc::detail::binning
