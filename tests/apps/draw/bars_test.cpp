#include "draw/bars.hpp"

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
            "      4 +------------+------------+\n"
            "        0           500         1,000\n"
            "    nan                                  1   0.1 %\n");
}

TEST(Picture, UnequalBinsAreDensities) {
  ooc::Histogram histogram = make(0, 3, {100, 50, 100});
  histogram.edges.back() = 12;
  const std::vector<std::string> rows = rows_of(draw_histogram(histogram, plain, false, true));
  EXPECT_EQ(bar_of(rows[1]), bar_of(rows[0]) / 2);
  EXPECT_EQ(bar_of(rows[2]), bar_of(rows[0]) / 10);
  EXPECT_NE(rows[2].find("100"), std::string::npos);  // counts stay
  EXPECT_EQ(describe_rows(histogram, plain, true), ", bars are densities: counts per 1");
  EXPECT_EQ(describe_rows(histogram, plain), "");
}

TEST(Picture, EighthsOfAColumn) {
  const Terminal unicode{.columns = 50, .unicode = true};
  const std::string picture = draw_histogram(make(0, 3, {1600, 1, 300}), unicode, false);
  EXPECT_EQ(picture,
            "      0 ┌██████████████████████████  1,600  84.2 %\n"
            "      1 ├▏                               1   0.1 %\n"
            "      2 ├████▉                         300  15.8 %\n"
            "      3 └───────┬───────┬───────┬\n"
            "        0      500    1,000   1,500\n");
}

TEST(Picture, FitsTheScreen) {
  for (const std::size_t bins : {1, 2, 23, 24, 25, 97, 100, 255, 256, 1000, 1 << 20}) {
    for (const std::size_t columns : {40, 80, 120}) {
      for (const std::uint64_t count : {1ull, 3ull, 5'000ull, 17'000'000'000'000ull}) {
        for (const bool logarithmic : {false, true}) {
          const std::vector<std::string> rows =
              rows_of(draw_histogram(make(-1, 1, std::vector<std::uint64_t>(bins, count)),
                                     {.columns = columns}, logarithmic));
          EXPECT_LE(rows.size(), 26u) << bins;
          EXPECT_GE(rows.size(), std::min<std::size_t>(bins, 12) + 1) << bins;
          const std::size_t room = std::max<std::size_t>(columns, count > 5'000 ? 60 : 0);
          for (const std::string& row : rows) EXPECT_LE(row.size(), room) << row;
        }
      }
    }
  }
}

TEST(Picture, ALowTerminalShowsAllOfIt) {
  const ooc::Histogram histogram = make(-1, 1, std::vector<std::uint64_t>(256, 3));
  for (const auto& [screen, most] : {std::pair{5, 8}, {24, 11}, {30, 17}, {100, 24}}) {
    const Terminal terminal{.rows = static_cast<std::size_t>(screen)};
    const std::size_t rows = rows_of(draw_histogram(histogram, terminal, false)).size();
    EXPECT_LE(rows, static_cast<std::size_t>(most) + 2) << screen;
    EXPECT_GE(rows, 8u + 2) << screen;
  }
}

/// Returns the columns of a line that hold one of `letters`.
std::vector<std::size_t> columns_of(const std::string& line, std::string_view letters) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (letters.find(line[i]) != std::string_view::npos) columns.push_back(i);
  }
  return columns;
}

TEST(Picture, BarsEndAtTheTicksOfTheirCounts) {
  for (const bool logarithmic : {false, true}) {
    const std::vector<std::string> rows =
        rows_of(draw_histogram(make(0, 4, {10, 100, 1000, 10000}), {.columns = 72}, logarithmic));
    ASSERT_EQ(rows.size(), 6u);
    const std::vector<std::size_t> ticks = columns_of(rows[4], "+");
    if (logarithmic) {
      ASSERT_EQ(ticks.size(), 6u);  // the corner of the axes, then 1, 10, 100, 1,000, 10,000
      for (std::size_t i = 0; i < 4; ++i) {
        const auto end = static_cast<double>(rows[i].find_last_of('#'));
        EXPECT_NEAR(end, static_cast<double>(ticks[i + 2]), 1) << rows[i];
      }
    }
    EXPECT_EQ(ticks.back(), rows[3].find_last_of('#'));
    EXPECT_TRUE(rows[5].ends_with("10,000")) << rows[5];
  }
}

TEST(Picture, RowsAddUpToTheHistogram) {
  std::vector<std::uint64_t> counts(97);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i * i;
  const ooc::Histogram histogram = make(0, 97, counts);
  std::uint64_t sum = 0;
  std::vector<std::string> rows = rows_of(draw_histogram(histogram, plain, false));
  rows.resize(rows.size() - 2);  // the axis of the bars
  for (const std::string& row : rows) {
    std::istringstream words(row.substr(std::min(row.size(), row.find_last_of("#|") + 1)));
    std::string digits;
    words >> digits;
    std::erase(digits, ',');
    sum += std::stoull(digits);
  }
  EXPECT_EQ(sum, histogram.count);
}

TEST(Picture, LogarithmicBarsShowTheSmall) {
  const ooc::Histogram histogram = make(0, 3, {1'000'000, 1'000, 0});
  const std::vector<std::string> linear = rows_of(draw_histogram(histogram, plain, false));
  const std::vector<std::string> logarithmic = rows_of(draw_histogram(histogram, plain, true));
  EXPECT_EQ(bar_of(linear[1]), 1u);
  EXPECT_EQ(bar_of(logarithmic[0]), bar_of(linear[0]));
  EXPECT_NEAR(static_cast<double>(bar_of(logarithmic[1])),
              0.524 * static_cast<double>(bar_of(logarithmic[0])), 1);
  EXPECT_EQ(bar_of(logarithmic[2]), 0u);
}

TEST(Picture, LabelsAreNearTheEdges) {
  const std::pair<double, double> ranges[] = {{0, 1e-300}, {1e15, 1e15 + 8}, {-1e300, 1e300},
                                              {-0.5, 0.5}, {1e-7, 3e-7},     {0, 1e9}};
  for (const auto& [lower, upper] : ranges) {
    const ooc::Histogram histogram = make(lower, upper, std::vector<std::uint64_t>(8, 1));
    const std::vector<std::string> rows = rows_of(draw_histogram(histogram, plain, false));
    ASSERT_EQ(rows.size(), 10u);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(std::stod(rows[i]), histogram.edges[i], (upper / 8 - lower / 8) / 10) << rows[i];
    }
  }
}

TEST(Picture, OneBinHasTwoLabels) {
  const std::string picture = draw_histogram(make(-4.455, 4.869, {9}), plain, false);
  EXPECT_EQ(picture,
            "   -4.5 |##############################  9 100.0 %\n"
            "    4.9 +------+-----+------+------+\n"
            "        0      2     4      6      8\n");
}

TEST(Picture, HowManyBinsShareARow) {
  const auto rows = [](std::size_t bins) {
    return describe_rows(make(0, 1, std::vector<std::uint64_t>(bins, 1)), plain);
  };
  EXPECT_EQ(rows(24), "");
  EXPECT_EQ(rows(256), ", each row sums 16 bins");
  EXPECT_EQ(rows(97), ", each row sums 5 bins (2 in the last)");
  EXPECT_EQ(rows(1 << 20), ", each row sums 65,536 bins");
  EXPECT_EQ(describe_rows(make(0, 1, std::vector<std::uint64_t>(256, 1)), {.rows = 24}),
            ", each row sums 32 bins");
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
