#include "draw/histogram_plot.hpp"

#include <gtest/gtest.h>
#include <regex.h>

#include <array>
#include <cmath>

namespace ooc_run {
namespace {

ooc::Histogram make(std::vector<double> edges, std::vector<std::uint64_t> counts) {
  ooc::Histogram histogram;
  histogram.edges = std::move(edges);
  histogram.counts = std::move(counts);
  for (const std::uint64_t count : histogram.counts) histogram.count += count;
  return histogram;
}

ooc::Histogram many_bins(std::size_t bins) {
  ooc::Histogram histogram;
  histogram.edges.push_back(0);
  for (std::size_t i = 0; i < bins; ++i) {
    histogram.edges.push_back(static_cast<double>(i + 1));
    histogram.counts.push_back(i % 3);
  }
  return histogram;
}

/// Returns the group of each match of an extended regular expression. Uses POSIX functions, because
/// g++ 12 warns of std::regex if sanitizers are on.
std::vector<std::string> all(const std::string& svg, const std::string& pattern) {
  regex_t regex{};
  EXPECT_EQ(regcomp(&regex, pattern.c_str(), REG_EXTENDED | REG_NEWLINE), 0) << pattern;
  std::vector<std::string> found;
  std::array<regmatch_t, 2> match{};  // the whole match, and the group
  for (const char* at = svg.c_str(); regexec(&regex, at, match.size(), match.data(), 0) == 0;
       at += match[0].rm_eo) {
    found.emplace_back(at + match[1].rm_so, at + match[1].rm_eo);
  }
  regfree(&regex);
  return found;
}

using Strings = std::vector<std::string>;

TEST(HistogramPlot, BarsAreAsLongAsTheirCounts) {
  const std::string svg = plot_histogram(make({0, 1, 2, 4}, {100, 0, 25}), {.title = "x"});
  EXPECT_EQ(all(svg, "data-count=\"([0-9]+)\""), (Strings{"100", "0", "25"}));
  const Strings heights = all(svg, "height=\"([0-9.]+)\" class=\"bar");
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_EQ(std::stod(heights[1]), 0);
  EXPECT_NEAR(std::stod(heights[2]), std::stod(heights[0]) / 4, 0.1);
  const Strings widths = all(svg, "width=\"([0-9.]+)\" height=\"[0-9.]+\" class=\"bar");
  EXPECT_NEAR(std::stod(widths[2]), 2 * std::stod(widths[0]), 0.2);
}

TEST(HistogramPlot, TooltipsAreAsHighAsTheFrame) {
  const std::string svg = plot_histogram(make({0, 1, 2, 4}, {100, 0, 1'234}), {.title = "x"});
  EXPECT_EQ(all(svg, "<title>(.*)</title>"),
            (Strings{"[0, 1): 100", "[1, 2): 0", "[2, 4]: 1,234"}));
  EXPECT_EQ(all(svg, "<path d=\"(M[0-9.]+ 80h[0-9.]+V400h-[0-9.]+z)\"><title>").size(), 3u);
}

TEST(HistogramPlot, StepsHaveTooltipsToo) {
  const Strings titles = all(plot_histogram(many_bins(256), {.title = "x"}), "<title>(.*)</title>");
  ASSERT_EQ(titles.size(), 256u);
  EXPECT_EQ(titles[1], "[1, 2): 1");
  EXPECT_EQ(titles[255], "[255, 256]: 0");
}

TEST(HistogramPlot, EdgesHaveSixDigits) {
  const std::string svg =
      plot_histogram(make({-4.455078125, 0.1 + 0.2, 4.869140625}, {1, 2}), {.title = "x"});
  EXPECT_EQ(all(svg, "<title>(.*)</title>"), (Strings{"[-4.45508, 0.3): 1", "[0.3, 4.86914]: 2"}));
  EXPECT_NE(svg.find("2 bins from -4.45508 to 4.86914<"), std::string::npos);
}

TEST(HistogramPlot, TheAxisGoesToTheTickAboveTheTallestBar) {
  const std::string svg = plot_histogram(make({0, 1, 2}, {662'000, 1}), {.title = "x"});
  const Strings labels = all(svg, "text-anchor=\"end\">([0-9,]+)<");
  EXPECT_EQ(labels, (Strings{"0", "200,000", "400,000", "600,000", "800,000"}));
  EXPECT_NE(svg.find("y=\"84.0\" text-anchor=\"end\">800,000<"), std::string::npos);  // at its end
}

TEST(HistogramPlot, WhatIsNotNothingIsSeen) {
  const std::string svg = plot_histogram(make({0, 1, 1, 2}, {1'000'000, 1, 0}), {.title = "x"});
  EXPECT_EQ(all(svg, "height=\"([0-9.]+)\" class=\"bar")[1], "1.0");
  EXPECT_EQ(all(svg, "width=\"([0-9.]+)\" height=\"[0-9.]+\" class=\"bar")[1], "1.0");
}

TEST(HistogramPlot, SmallBarsHaveNoOutlineThatHidesThem) {
  const std::string svg =
      plot_histogram(make({-100, -1, -0.5, 0, 3, 1000}, {50, 90, 90, 60, 100}), {.title = "x"});
  EXPECT_EQ(all(svg, "class=\"(bar[a-z ]*)\""),
            (Strings{"bar", "bar small", "bar small", "bar small", "bar"}));
  EXPECT_NE(svg.find(".small { stroke: none }"), std::string::npos);
}

TEST(HistogramPlot, LogarithmicAxes) {
  const std::string svg =
      plot_histogram(make({1, 10, 100}, {9, 999}),
                     {.title = "x", .logarithmic_counts = true, .logarithmic_values = true});
  const Strings heights = all(svg, "height=\"([0-9.]+)\" class=\"bar");
  const double decades = std::log(999 / 0.5) / std::log(9 / 0.5);  // the axis begins at 0.5
  EXPECT_NEAR(std::stod(heights[1]) / std::stod(heights[0]), decades, 0.01);
  const Strings widths = all(svg, "width=\"([0-9.]+)\" height=\"[0-9.]+\" class=\"bar");
  EXPECT_NEAR(std::stod(widths[1]), std::stod(widths[0]), 0.1);
  EXPECT_NE(svg.find("2 bins from 1 to 100, log scale<"), std::string::npos);
}

TEST(HistogramPlot, ManyBinsAreSteps) {
  const std::string svg = plot_histogram(many_bins(256), {.title = "x"});
  EXPECT_TRUE(all(svg, "(<rect x)").empty());
  const Strings counts = all(svg, "data-counts=\"([0-9 ]*)\"");
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(all(counts[0], "([0-9]+)").size(), 256u);
  EXPECT_EQ(all(svg, "(H[0-9.]+)").size(), 256u);
}

TEST(HistogramPlot, MoreBinsThanPixelsShareSteps) {
  const std::string svg = plot_histogram(many_bins(1 << 20), {.title = "x"});
  EXPECT_NE(svg.find("1,048,576 bins from 0 to 1048576, each bar sums 2,048 bins<"),
            std::string::npos);
  std::uint64_t sum = 0;
  for (const std::string& count : all(all(svg, "data-counts=\"([0-9 ]*)\"")[0], "([0-9]+)")) {
    sum += std::stoull(count);
  }
  EXPECT_EQ(sum, (std::uint64_t{1} << 20) - 1);
  EXPECT_LT(svg.size(), 60'000u);
}

TEST(HistogramPlot, UnequalBinsAreDensities) {
  const std::string svg =
      plot_histogram(make({0, 1, 2, 12}, {100, 50, 100}), {.title = "x", .own_edges = true});
  const Strings heights = all(svg, "height=\"([0-9.]+)\" class=\"bar");
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_NEAR(std::stod(heights[1]), std::stod(heights[0]) / 2, 0.1);
  EXPECT_NEAR(std::stod(heights[2]), std::stod(heights[0]) / 10, 0.1);
  EXPECT_EQ(all(svg, "data-count=\"([0-9]+)\""), (Strings{"100", "50", "100"}));
  EXPECT_NE(svg.find("3 bins from 0 to 12, bars are densities: counts per 1<"), std::string::npos);
  EXPECT_NE(svg.find(">density</text>"), std::string::npos);
  EXPECT_EQ(svg.find(">count</text>"), std::string::npos);
}

TEST(HistogramPlot, TheAxisOfValuesHasItsTitle) {
  const ooc::Histogram histogram = make({0, 1}, {5});
  EXPECT_NE(plot_histogram(histogram, {.title = "x"}).find(">value</text>"), std::string::npos);
  const HistogramPlot plot{.title = "x", .value_title = "a < b & c"};
  EXPECT_NE(plot_histogram(histogram, plot).find(">a &lt; b &amp; c</text>"), std::string::npos);
  EXPECT_NE(histogram_figure(histogram, plot).find(">a &lt; b &amp; c</span>"), std::string::npos);
}

TEST(HistogramPlot, SaysWhatIsNotDrawn) {
  ooc::Histogram histogram = make({0, 1}, {5});
  EXPECT_EQ(plot_histogram(histogram, {.title = "x"}).find("not drawn"), std::string::npos);
  histogram.below = 7;
  histogram.nan = 12345;
  EXPECT_NE(plot_histogram(histogram, {.title = "x"}).find("not drawn: 7 below, 12,345 nan<"),
            std::string::npos);
}

TEST(HistogramPlot, HasItsTitleAsText) {
  const std::string svg = plot_histogram(make({0, 1}, {5}), {.title = "<b>"});
  EXPECT_NE(svg.find(">&lt;b&gt;</text>"), std::string::npos);
}

TEST(HistogramPlot, LongTitlesLoseTheirMiddle) {
  std::string path;
  for (int i = 0; i < 60; ++i) path += "ä/";
  const std::string svg = plot_histogram(make({0, 1}, {5}), {.title = path + "end"});
  EXPECT_NE(svg.find("ä/end</text>"), std::string::npos);
  EXPECT_NE(svg.find(">ä/"), std::string::npos);
  EXPECT_NE(svg.find("…"), std::string::npos);
  EXPECT_EQ(svg.find("\ufffd"), std::string::npos);  // no character is cut in two
}

TEST(HistogramPlot, NothingIsAPictureToo) {
  for (const ooc::Histogram& histogram : {ooc::Histogram{}, make({0, 1}, {0}), make({0, 0}, {0})}) {
    for (const bool logarithmic : {false, true}) {
      const std::string svg =
          plot_histogram(histogram, {.title = "x", .logarithmic_counts = logarithmic});
      EXPECT_TRUE(all(svg, "(nan|inf)").empty()) << svg;
    }
  }
  EXPECT_NE(plot_histogram({}, {.title = "x"}).find(">no values<"), std::string::npos);
}

}  // namespace
}  // namespace ooc_run
