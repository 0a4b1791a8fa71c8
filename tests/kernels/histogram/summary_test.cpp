// Tests several results from one read, by built-in operators and a user's. Each must have the same
// bits as when it is computed alone.

#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "kernels/histogram/expect_histogram.hpp"
#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

/// Random bits, which give values of every kind, and floats so different in size that any change of
/// the order of additions shows. Doubles are no larger than floats, so that their range has a
/// finite width.
template <class T>
std::vector<T> random_values(std::size_t count) {
  const auto bits =
      test::random_bits<std::conditional_t<std::is_same_v<T, double>, float, T>>(count);
  return {bits.begin(), bits.end()};
}

/// The bits of all fields. All NaN have the same pattern.
std::vector<std::uint64_t> bits_of(const Statistics& found) {
  std::vector<std::uint64_t> bits{found.count, found.nan, found.argmin.value_or(~0u),
                                  found.argmax.value_or(~0u)};
  for (const auto& value : {found.mean, found.variance, found.stddev}) {
    bits.push_back(test::bits_of(value.value_or(-1)));
  }
  for (const Scalar& value : {found.sum, found.min, found.max}) {
    if (const auto* real = std::get_if<double>(&value)) bits.push_back(test::bits_of(*real));
    if (const auto* integer = std::get_if<int128>(&value)) {
      bits.push_back(static_cast<std::uint64_t>(*integer));
      bits.push_back(static_cast<std::uint64_t>(*integer >> 64));
    }
  }
  return bits;
}

/// A user's operator: copies each chunk to the host and adds up its bits.
struct AddBits {
  using Input = float;
  struct Partial {
    std::vector<std::uint32_t> home{};
    std::uint64_t sum = 0;
  };

  void consume(Stream& stream, DeviceSpan<const float> in, Partial& partial) const {
    partial.home.resize(in.size);
    stream.copy(partial.home.data(), in.data, in.size * sizeof(float));
    stream.synchronize();
    for (const std::uint32_t bits : partial.home) partial.sum += bits;
  }
  void merge(Partial& total, const Partial& part) const { total.sum += part.sum; }
  std::uint64_t result(const Partial& total) const { return total.sum; }
};

class SummaryTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  /// Checks every option of reduce() and every way to specify bins, with various numbers of chunks
  /// and streams.
  template <class T>
  void expect_what_each_finds() {
    const Source source = file_.source_of(random_values<T>(5 * tile_elements + 321));
    const SummaryOptions all[] = {
        {.histogram = {.bins = 10, .range = {{-1, 200}}}},
        {.reduce = {.nan = NanPolicy::omit}, .histogram = {.bins = 3000}},
        {.reduce = {.nan = NanPolicy::omit, .exact = true}, .histogram = {.edges = {0, 1, 1, 99}}}};
    for (const SummaryOptions& options : all) {
      Coordinator alone(make_device(GetParam()), {.chunk_bytes = 1 * MiB, .streams = 2});
      const Statistics statistics = reduce(alone, source, options.reduce).value;
      const auto [counts, counted] = histogram(alone, source, options.histogram);
      struct Cut {
        std::size_t tiles, streams;
      };
      for (const auto& [tiles, streams] : {Cut{1, 5}, Cut{3, 1}, Cut{20, 2}}) {
        SCOPED_TRACE(std::string(name_of(element_type_of<T>())) + ", chunks of " +
                     std::to_string(tiles) + " tiles, streams " + std::to_string(streams));
        Coordinator coordinator(
            make_device(GetParam()),
            {.chunk_bytes = tiles * tile_elements * sizeof(T), .streams = streams});
        const auto [found, stats] = summarize(coordinator, source, options);
        EXPECT_EQ(bits_of(found.statistics), bits_of(statistics));
        test::expect_equal(found.histogram, counts);
        EXPECT_EQ(stats.outcome.passes, counted.outcome.passes);
      }
    }
  }

  test::ValuesFile file_;
};

TEST_P(SummaryTest, HasTheBitsOfBothAlone) {
  expect_what_each_finds<std::uint8_t>();
  expect_what_each_finds<std::int16_t>();
  expect_what_each_finds<std::uint32_t>();
  expect_what_each_finds<std::int64_t>();
  expect_what_each_finds<Float16>();
  expect_what_each_finds<BFloat16>();
  expect_what_each_finds<float>();
  expect_what_each_finds<double>();
}

TEST_P(SummaryTest, AUsersOperatorGoesWithThem) {
  const Source source = file_.source_of(random_values<float>(7 * tile_elements + 5));
  const HistogramOptions bins{.bins = 64, .range = {{-4, 4}}};
  const std::tuple operators{AddBits{}, Reduction<float>{}, CountBins<float>{bins}};
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 512 * KiB, .streams = 3});
  const auto [found, stats] = fold(coordinator, operators, source);
  const auto& [sum, statistics, counts] = found;
  EXPECT_EQ(sum, fold(coordinator, AddBits{}, source).value);
  EXPECT_EQ(bits_of(statistics), bits_of(reduce(coordinator, source).value));
  test::expect_equal(counts, histogram(coordinator, source, bins).value);
}

TEST_P(SummaryTest, ReadsTheBytesOnceIfTheRangeIsKnown) {
  const Source floats = file_.source_of(random_values<float>(30 * tile_elements + 1));
  const auto bytes_read = [&](const HistogramOptions& options) {
    std::atomic<std::uint64_t> bytes{0};
    const auto add = [&](const TraceEvent& done) {
      if (done.kind == TraceEvent::Kind::read) bytes += done.bytes;
    };
    Coordinator coordinator(make_device(GetParam()));
    summarize(coordinator, floats, {.histogram = options}, {.observe = add});
    return bytes.load();
  };
  EXPECT_EQ(bytes_read({.range = {{0, 1}}}), floats.bytes());
  const int passes = GetParam() == DeviceKind::cuda ? 1 : 2;  // that read: a GPU keeps the data
  EXPECT_EQ(bytes_read({}), passes * floats.bytes());
}

TEST_P(SummaryTest, StoppedEarlyBothCoverTheSame) {
  const auto values = random_values<std::uint8_t>(40 * tile_elements);
  const Source source = file_.source_of(values);
  std::stop_source stop;
  const auto end_soon = [&](const TraceEvent& done) {
    if (done.kind == TraceEvent::Kind::kernel && done.chunk >= 5) stop.request_stop();
  };
  Coordinator coordinator(make_device(GetParam()),
                          {.chunk_bytes = tile_elements,
                           .streams = 2,
                           // otherwise all might be read before the fifth chunk is computed
                           .memory_bytes = 12 * tile_elements});
  const auto [found, stats] =
      summarize(coordinator, source, {},
                {.stop = stop.get_token(), .observe = end_soon, .keep_partial = true});
  EXPECT_TRUE(stats.outcome.partial);
  EXPECT_GT(stats.outcome.bytes, 0u);
  EXPECT_LT(stats.outcome.bytes, values.size());
  const Source part = file_.source_of(std::vector(
      values.begin(), values.begin() + static_cast<std::ptrdiff_t>(stats.outcome.bytes)));
  Coordinator another(make_device(GetParam()));
  const Summary expected = summarize(another, part).value;
  EXPECT_EQ(bits_of(found.statistics), bits_of(expected.statistics));
  test::expect_equal(found.histogram, expected.histogram);
}

TEST_P(SummaryTest, OfNoElements) {
  const Source source = file_.source_of(std::vector<double>{});
  Coordinator coordinator(make_device(GetParam()));
  const Summary found = summarize(coordinator, source).value;
  EXPECT_EQ(found.statistics.count, 0u);
  test::expect_equal(found.histogram, {});
  verify_summary(coordinator, source, {}, found);

  const SummaryOptions given{.histogram = {.bins = 2, .range = {{0, 2}}}};
  const Summary in_bins = summarize(coordinator, source, given).value;
  test::expect_equal(in_bins.histogram, {.edges = {0, 1, 2}, .counts = {0, 0}});
  verify_summary(coordinator, source, given, in_bins);
}

TEST_P(SummaryTest, TheCheckSeesBoth) {
  const Source source = file_.source_of(random_values<std::int16_t>(1000));
  Coordinator coordinator(make_device(GetParam()));
  const Summary found = summarize(coordinator, source).value;
  verify_summary(coordinator, source, {}, found);
  Summary miscounted = found;
  --miscounted.histogram.counts[7];
  ++miscounted.histogram.counts[8];
  EXPECT_THROW(verify_summary(coordinator, source, {}, miscounted), Error);
  Summary misadded = found;
  misadded.statistics.sum = int128{12345};
  EXPECT_THROW(verify_summary(coordinator, source, {}, misadded), Error);
}

TEST_P(SummaryTest, AnOperatorCannotLookForItsRange) {
  EXPECT_THROW(CountBins<float>{}, Error);
  EXPECT_THROW(CountBins<std::uint8_t>({.logarithmic = true}), Error);
  EXPECT_THROW(CountBins<float>({.bins = 0, .range = {{0, 1}}}), Error);
  EXPECT_NO_THROW(CountBins<std::int8_t>{});
  EXPECT_NO_THROW(CountBins<float>({.edges = {0, 1}}));
}

INSTANTIATE_TEST_SUITE_P(Devices, SummaryTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
