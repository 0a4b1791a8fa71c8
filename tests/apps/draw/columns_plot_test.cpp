#include "draw/columns_plot.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ooc_run {
namespace {

using ooc::Statistics;

Statistics column(double min, double max, double mean, double stddev) {
  return {.count = 10,
          .sum = 10 * mean,
          .min = min,
          .max = max,
          .argmin = 3,
          .argmax = 7,
          .mean = mean,
          .variance = stddev * stddev,
          .stddev = stddev};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ColumnsPlot, DrawsAStripForEachColumn) {
  const std::vector<Statistics> columns{column(-1, 3, 1, 1), column(5, 5, 5, 0)};
  const std::string svg = plot_columns(columns, "a < b");
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find("2 columns of 10 rows"), std::string::npos);
  EXPECT_NE(
      svg.find("column 0: mean 1, standard deviation 1, minimum -1 in row 3, maximum 3 in row "
               "7"),
      std::string::npos);
  // From a quarter to three quarters of the strip, from 180 to 680.
  EXPECT_NE(svg.find("<rect x=\"305.0\" y"), std::string::npos);
  EXPECT_NE(svg.find("width=\"250.0\""), std::string::npos);
  EXPECT_EQ(count_of(svg, "class=\"band\""), 2u);
}

TEST(ColumnsPlot, OfExtremeNumbersStaysInItsStrip) {
  constexpr double most = std::numeric_limits<double>::max();
  const std::vector<Statistics> columns{column(-most, most, 0, most / 2)};
  const std::string svg = plot_columns(columns, "");
  EXPECT_NE(svg.find("<rect x=\"305.0\" y"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(ColumnsPlot, SaysWhereThereIsNoRange) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Statistics> columns{column(nan, nan, nan, nan), Statistics{}};
  const std::string svg = plot_columns(columns, "");
  EXPECT_EQ(count_of(svg, "no range of finite numbers"), 2u);
  EXPECT_EQ(count_of(svg, "class=\"band\""), 0u);
}

TEST(ColumnsPlot, EndsAfterAHundred) {
  const std::vector<Statistics> columns(130, column(0, 1, 0.5, 0.1));
  const std::string svg = plot_columns(columns, "");
  EXPECT_EQ(count_of(svg, "class=\"band\""), 100u);
  EXPECT_NE(svg.find("not drawn: 30 columns behind them"), std::string::npos);
}

}  // namespace
}  // namespace ooc_run
