#include "picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace ooc_run {
namespace {

ooc::Histogram make(double lower, double upper, std::vector<std::uint64_t> counts) {
  ooc::Histogram histogram;
  const auto bins = static_cast<double>(counts.size());
  for (std::size_t i = 0; i <= counts.size(); ++i) {
    histogram.edges.push_back(lower + (upper - lower) * static_cast<double>(i) / bins);
  }
  for (const std::uint64_t count : counts) histogram.count += count;
  histogram.counts = std::move(counts);
  return histogram;
}

std::vector<std::string> rows_of(const std::string& picture) {
  std::vector<std::string> rows;
  std::istringstream stream(picture);
  for (std::string row; std::getline(stream, row);) rows.push_back(row);
  return rows;
}

std::size_t bar_of(const std::string& row) {
  return static_cast<std::size_t>(std::count(row.begin(), row.end(), '#'));
}

constexpr Terminal plain{.columns = 50};

TEST(Picture, AFewBins) {
  ooc::Histogram histogram = make(0, 4, {1, 1000, 500, 0});
  histogram.below = 7;
  histogram.nan = 1;
  histogram.count += 8;
  EXPECT_EQ(draw_histogram(histogram, plain, false),
            "  below                                  7   0.5 %\n"
            "      0 |#                               1   0.1 %\n"
            "      1 |##########################  1,000  66.3 %\n"
            "      2 |#############                 500  33.1 %\n"
            "      3 |                                0\n"
            "      4 +\n"
            "    nan                                  1   0.1 %\n");
}

TEST(Picture, EighthsOfAColumn) {
  const Terminal unicode{.columns = 50, .unicode = true};
  const std::string picture = draw_histogram(make(0, 3, {1600, 1, 300}), unicode, false);
  EXPECT_EQ(picture,
            "      0 ┌██████████████████████████  1,600  84.2 %\n"
            "      1 ├▏                               1   0.1 %\n"
            "      2 ├████▉                         300  15.8 %\n"
            "      3 └\n");
}

TEST(Picture, FitsTheScreen) {
  for (const std::size_t bins : {1, 2, 23, 24, 25, 97, 100, 255, 256, 1000, 1 << 20}) {
    for (const std::size_t columns : {40, 80, 120}) {
      const Terminal terminal{.columns = columns};
      const std::vector<std::string> rows = rows_of(
          draw_histogram(make(-1, 1, std::vector<std::uint64_t>(bins, 3)), terminal, false));
      EXPECT_LE(rows.size(), 25u) << bins;
      EXPECT_GE(rows.size(), std::min<std::size_t>(bins, 12) + 1) << bins;
      for (const std::string& row : rows) EXPECT_LE(row.size(), columns) << row;
    }
  }
}

TEST(Picture, RowsAddUpToTheHistogram) {
  std::vector<std::uint64_t> counts(97);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i * i;
  const ooc::Histogram histogram = make(0, 97, counts);
  std::uint64_t sum = 0;
  for (const std::string& row : rows_of(draw_histogram(histogram, plain, false))) {
    std::istringstream words(row.substr(std::min(row.size(), row.find_last_of("#|") + 1)));
    std::string digits;
    words >> digits;
    std::erase(digits, ',');
    if (!digits.empty() && digits != "+") sum += std::stoull(digits);
  }
  EXPECT_EQ(sum, histogram.count + 97);  // and the last label
}

TEST(Picture, LogarithmicBarsShowTheSmall) {
  const ooc::Histogram histogram = make(0, 2, {1'000'000, 1'000});
  const std::vector<std::string> linear = rows_of(draw_histogram(histogram, plain, false));
  const std::vector<std::string> logarithmic = rows_of(draw_histogram(histogram, plain, true));
  EXPECT_EQ(bar_of(linear[1]), 1u);
  EXPECT_EQ(bar_of(logarithmic[0]), bar_of(linear[0]));
  EXPECT_EQ(bar_of(logarithmic[1]), bar_of(logarithmic[0]) / 2);
}

TEST(Picture, LabelsAreNearTheEdges) {
  const std::pair<double, double> ranges[] = {{0, 1e-300}, {1e15, 1e15 + 8}, {-1e300, 1e300},
                                              {-0.5, 0.5}, {1e-7, 3e-7},     {0, 1e9}};
  for (const auto& [lower, upper] : ranges) {
    const ooc::Histogram histogram = make(lower, upper, std::vector<std::uint64_t>(8, 1));
    const std::vector<std::string> rows = rows_of(draw_histogram(histogram, plain, false));
    ASSERT_EQ(rows.size(), 9u);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(std::stod(rows[i]), histogram.edges[i], (upper / 8 - lower / 8) / 10) << rows[i];
    }
  }
}

TEST(Picture, OneBinHasTwoLabels) {
  const std::string picture = draw_histogram(make(-4.455, 4.869, {9}), plain, false);
  EXPECT_EQ(picture,
            "   -4.5 |##############################  9 100.0 %\n"
            "    4.9 +\n");
}

TEST(Picture, HowManyBinsShareARow) {
  const auto rows = [](std::size_t bins) {
    return describe_rows(make(0, 1, std::vector<std::uint64_t>(bins, 1)));
  };
  EXPECT_EQ(rows(24), "");
  EXPECT_EQ(rows(256), ", 16 to a row");
  EXPECT_EQ(rows(97), ", 5 to a row (2 in the last)");
}

TEST(Picture, NoCountsNoBars) {
  ooc::Histogram histogram = make(0, 1, {0, 0});
  histogram.nan = histogram.count = 5;
  const std::vector<std::string> rows = rows_of(draw_histogram(histogram, plain, true));
  EXPECT_EQ(bar_of(rows[0]), 0u);
  EXPECT_NE(rows.back().find("100.0 %"), std::string::npos);
}

}  // namespace
}  // namespace ooc_run
