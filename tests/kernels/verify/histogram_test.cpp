#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

using test::infinity;

class VerifyHistogramTest : public testing::Test, protected test::ValuesFile {
 protected:
  void expect_verified(const Source& source, const HistogramOptions& options = {}) {
    verify_histogram(coordinator_, source, options, histogram(coordinator_, source, options).value);
  }

  /// Expects that a histogram of `source` fails the check after `spoil`.
  void expect_refused(const Source& source, const HistogramOptions& options,
                      const std::string& text, const std::function<void(Histogram&)>& spoil) {
    SCOPED_TRACE(text);
    Histogram found = histogram(coordinator_, source, options).value;
    verify_histogram(coordinator_, source, options, found);
    spoil(found);
    test::expect_error(ErrorKind::verify, text,
                       [&] { verify_histogram(coordinator_, source, options, found); });
  }

  Coordinator coordinator_{make_device(DeviceKind::cpu), {.chunk_bytes = 256 * KiB, .streams = 3}};
};

TEST_F(VerifyHistogramTest, RightOnesOfEveryType) {
  const HistogramOptions all[] = {{.range = {{0, 256}}},
                                  {.bins = 1, .range = {{-1e-3, 100}}},
                                  {.bins = 7, .range = {{5, 5}}},
                                  {.bins = 40'000, .range = {{-1e5, 1e5}}},
                                  {.bins = 100, .range = {{0.01, 1e9}}, .logarithmic = true},
                                  {.edges = {-1, 0, 0, 7.5, 100, 100}}};
  for (int element = 0; element <= static_cast<int>(ElementType::bf16); ++element) {
    visit(static_cast<ElementType>(element), [&]<class T>(std::type_identity<T>) {
      const auto values = test::varied_values<T>(70'003);
      for (const bool swapped : {false, true}) {
        const Source source = source_of(values, swapped);
        for (const HistogramOptions& options : all) expect_verified(source, options);
      }
      if constexpr (std::is_integral_v<T>) expect_verified(source_of(values));
    });
  }
}

TEST_F(VerifyHistogramTest, RangesThatAreFoundInTheData) {
  expect_verified(source_of(std::vector<float>{3}));
  expect_verified(source_of(std::vector<double>{-infinity, 1, 2, infinity, std::nan("")}));
  expect_verified(source_of(std::vector<double>{-1e307, 3e306, -0.0, 5e-324}), {.bins = 999});
  expect_verified(source_of(std::vector<double>{0, 1e-322, 5e-324}), {.bins = 7});
  expect_verified(source_of(std::vector<float>{1e-30f, 1, 1e30f}), {.logarithmic = true});
  // There is hardly any double between two edges.
  std::vector<double> close(1000);
  for (std::size_t i = 0; i < close.size(); ++i) close[i] = 1 + static_cast<double>(i) * 0x1p-52;
  for (const std::size_t bins : {3, 50, 199, 333, 700, 999}) {
    expect_verified(source_of(close), {.bins = bins});
  }
  expect_verified(source_of(std::vector<std::uint8_t>{3, 200}), {.logarithmic = true});
  const Source empty = source_of(std::vector<float>{});
  expect_verified(empty);
  expect_verified(empty, {.bins = 3, .range = {{0, 1}}});
  expect_verified(empty, {.edges = {1, 2}});
}

TEST_F(VerifyHistogramTest, NumbersOfBinsByARule) {
  for (const BinRule rule :
       {BinRule::sqrt, BinRule::sturges, BinRule::scott, BinRule::fd, BinRule::automatic}) {
    for (const ElementType type : {ElementType::u1, ElementType::i2, ElementType::u8,
                                   ElementType::f2, ElementType::f4, ElementType::f8}) {
      visit(type, [&]<class T>(std::type_identity<T>) {
        std::vector<T> values = test::varied_values<T>(70'003);
        if constexpr (is_floating<T>) {  // without infinities
          std::erase_if(values, [](T value) { return std::isinf(to_double(value)); });
        }
        const Source source = source_of(values);
        const Statistics statistics = reduce(coordinator_, source, {.nan = NanPolicy::omit}).value;
        if (!std::isfinite(statistics.variance.value_or(infinity))) return;
        if (is_floating<T> && rule == BinRule::fd) return;  // it gives too many bins
        expect_verified(source, {.bins = rule});
      });
    }
    expect_verified(source_of(std::vector<float>{}), {.bins = rule});
    expect_verified(source_of(std::vector<float>(1000, 0.1f)), {.bins = rule});
    expect_verified(source_of(std::vector<double>{0, 1e-170, 3e-170}), {.bins = rule});
    expect_verified(source_of(std::vector<double>{1e15, 1e15 + 1, 1e15 + 7}), {.bins = rule});
    // The check of the bins of one rule refuses those of a number close to it.
    std::vector<std::int32_t> values(70'003);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::int32_t>(i * i % 1'000'003);
    }
    const Source source = source_of(values);
    const std::size_t bins = histogram(coordinator_, source, {.bins = rule}).value.counts.size();
    for (const std::size_t other : {bins - 1, bins + 1}) {
      const Histogram found = histogram(coordinator_, source, {.bins = other}).value;
      test::expect_error(ErrorKind::verify, "the number of bins is " + std::to_string(other),
                         [&] { verify_histogram(coordinator_, source, {.bins = rule}, found); });
    }
  }
}

/// Doubles of this size are further apart than a relative bound allows for.
TEST_F(VerifyHistogramTest, LogarithmicEdgesAmongTheSmallestNumbers) {
  const Source source = source_of(std::vector<double>{1e-320, 1e-310, 1e-300});
  // the first bin is a few of the smallest numbers wide
  for (const std::size_t bins : {2, 10, 333}) {
    expect_verified(source, {.bins = bins, .range = {{1e-320, 1e-300}}, .logarithmic = true});
  }
}

TEST_F(VerifyHistogramTest, WrongCounts) {
  const Source source = source_of(test::varied_values<float>(200'003));
  const HistogramOptions options{.bins = 10, .range = {{0, 100}}};
  expect_refused(source, options, "counts[3] is ", [](Histogram& found) {
    --found.counts[3];
    ++found.counts[4];
  });
  expect_refused(source, options, "below is ", [](Histogram& found) { ++found.below; });
  expect_refused(source, options, "above is ", [](Histogram& found) { ++found.above; });
  expect_refused(source, options, "nan is ", [](Histogram& found) { --found.nan; });
  expect_refused(source, options, "count is 200002, but 200003 when it is computed another way",
                 [](Histogram& found) { --found.count; });
  expect_refused(source, options, "the number of bins is 9, but 10",
                 [](Histogram& found) { found.counts.pop_back(); });
}

TEST_F(VerifyHistogramTest, WrongEdges) {
  const Source source = source_of(std::vector<double>{0.5, 1, 2, 4});
  const auto nudge = [](std::size_t index, double by) {
    return [=](Histogram& found) { found.edges[index] += by; };
  };
  // Counts between wrong edges may be correct.
  for (const HistogramOptions& options : {HistogramOptions{.bins = 7},
                                          {.bins = 7, .logarithmic = true},
                                          {.bins = 7, .range = {{0.5, 4}}}}) {
    expect_refused(source, options, "edges[0] is ", nudge(0, -1e-12));
    expect_refused(source, options, "edges[7] is ", nudge(7, 1e-12));
    expect_refused(source, options, "edges[5] is ", nudge(5, 1e-12));
  }
  expect_refused(source, {.edges = {0, 3, 5}}, "edges[1] is ", nudge(1, 1e-15));
  expect_refused(source, {.edges = {0, 3, 5}}, "edges[1] is 12, but 3 when", nudge(1, 9));
  expect_refused(source, {.bins = 3}, "the number of edges is 3, but 4",
                 [](Histogram& found) { found.edges.pop_back(); });
}

/// The histogram of the given values would have another range.
TEST_F(VerifyHistogramTest, ARangeThatMissesTheOutermostValue) {
  const Histogram of_others = histogram(coordinator_, source_of(std::vector<float>{1, 2, 3})).value;
  const Source source = source_of(std::vector<float>{1, 2, 4});
  test::expect_error(ErrorKind::verify, "edges[256] is 3, but 4",
                     [&] { verify_histogram(coordinator_, source, {}, of_others); });
}

TEST_F(VerifyHistogramTest, OfNoElements) {
  const HistogramOptions given{.edges = {1, 2, 3}};
  expect_refused(source_of(std::vector<float>{}), given, "counts[1] is 7, but 0",
                 [](Histogram& found) { found.counts[1] = 7; });
  expect_refused(source_of(std::vector<float>{}), given, "the number of bins is 0, but 2",
                 [](Histogram& found) { found.counts = {}; });
  expect_refused(source_of(std::vector<float>{}), {}, "count is 1, but 0",
                 [](Histogram& found) { ++found.count; });
}

}  // namespace
}  // namespace ooc::detail
