#include "bench/plot.hpp"

#include <gtest/gtest.h>
#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <string>

namespace ooc_run {
namespace {

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

CeilingRows ceiling(double rate) {
  return {.rows = {{1, 0, {rate}}}};
}

BenchResult a_sweep() {
  BenchResult result;
  result.disk = ceiling(3e9);
  result.page_cache = ceiling(9e9);
  result.h2d.skipped = "none";
  result.kernels.fill(ceiling(8e9));
  result.kernels[0] = ceiling(7e9);  // histogram u1, as in the sweep
  for (const bool cold : {true, false}) {
    for (const std::string_view what : {"chunk", "in_flight", "file"}) {
      for (const std::uint64_t bytes :
           {ooc::detail::MiB, 2 * ooc::detail::MiB, 4 * ooc::detail::MiB}) {
        result.sweep.push_back({what, cold, bytes, {1e9, 2e9, 2.5e9}});
      }
    }
  }
  return result;
}

TEST(BenchPlot, HasALinePerSeriesACeilingAndUnits) {
  const std::string svg = plot_sweep(a_sweep(), "x.bin");
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(occurrences(svg, "<polyline "), 6u);
  EXPECT_EQ(occurrences(svg, "<circle "), 18u);
  EXPECT_EQ(occurrences(svg, ">GB/s<"), 6u);
  EXPECT_EQ(occurrences(svg, ">chunk (bytes)<"), 2u);
  EXPECT_EQ(occurrences(svg, ">measured ceiling 3<"), 3u);
  EXPECT_EQ(occurrences(svg, ">measured ceiling 7<"), 3u);  // slower than the page cache
  EXPECT_EQ(occurrences(svg, ">4M<"), 6u);
}

/// Returns the y of the first element of a picture that has `what` after its y.
double y_of(const std::string& svg, const std::string& what) {
  const std::size_t at = svg.find(what);
  if (at == std::string::npos) return -1;
  const std::size_t y = svg.rfind(" y=\"", at);
  return std::stod(svg.substr(y + 4));
}

TEST(BenchPlot, NoLineGoesThroughALabelOfACeiling) {
  const std::string svg = plot_sweep(a_sweep(), "x.bin");
  // The label of a tick is 4 pixels below its line. The highest tick is the top of the frame.
  const double frame_top = y_of(svg, ">4</text>") - 4;
  EXPECT_GT(frame_top, 0);
  EXPECT_LE(y_of(svg, ">measured ceiling 3<"), frame_top - 8);
}

TEST(BenchPlot, ColdAndWarmAreHeadingsOfARowEach) {
  const std::string svg = plot_sweep(a_sweep(), "x.bin");
  for (const char* heading : {"Cold: from the disk", "Warm: from the page cache"}) {
    const std::size_t at = svg.find(heading);
    ASSERT_NE(at, std::string::npos);
    const std::string element = svg.substr(svg.rfind("<text", at), at - svg.rfind("<text", at));
    EXPECT_NE(element.find("x=\"70.0\""), std::string::npos) << element;
    EXPECT_NE(element.find("text-anchor=\"start\""), std::string::npos) << element;
  }
  EXPECT_LT(y_of(svg, ">Cold: "), y_of(svg, ">measured ceiling 3<"));
  EXPECT_LT(y_of(svg, ">measured ceiling 3<"), y_of(svg, ">Warm: "));
  EXPECT_LT(y_of(svg, ">Warm: "), y_of(svg, ">measured ceiling 7<"));
}

TEST(BenchPlot, WithoutColdRunsThereIsNoRowOfThem) {
  BenchResult result = a_sweep();
  std::erase_if(result.sweep, [](const SweepRow& row) { return row.cold; });
  const std::string svg = plot_sweep(result, "x.bin");
  EXPECT_EQ(occurrences(svg, "<polyline "), 3u);
  EXPECT_EQ(svg.find("Cold: from"), std::string::npos);
}

TEST(BenchPlot, ASinglePointHasAPlace) {
  BenchResult result;
  result.sweep.push_back({"file", false, 100, {1e6}});
  const std::string svg = plot_sweep(result, "x.bin");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace ooc_run
