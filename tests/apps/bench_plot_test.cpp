#include "bench_plot.hpp"

#include <gtest/gtest.h>
#include <ooc/io/units.hpp>

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
  result.kernels[0] = ceiling(7e9);  // of bytes, which is what passes
  for (const bool cold : {true, false}) {
    for (const std::string_view what : {"chunk", "in_flight", "file"}) {
      for (const std::uint64_t bytes : {ooc::MiB, 2 * ooc::MiB, 4 * ooc::MiB}) {
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
  EXPECT_EQ(occurrences(svg, ">ceiling 3<"), 3u);
  EXPECT_EQ(occurrences(svg, ">ceiling 7<"), 3u);  // the kernel is slower than the page cache
  EXPECT_EQ(occurrences(svg, ">4M<"), 6u);
}

TEST(BenchPlot, WithoutColdRunsThereIsNoRowOfThem) {
  BenchResult result = a_sweep();
  std::erase_if(result.sweep, [](const SweepRow& row) { return row.cold; });
  const std::string svg = plot_sweep(result, "x.bin");
  EXPECT_EQ(occurrences(svg, "<polyline "), 3u);
  EXPECT_EQ(svg.find("cold: from"), std::string::npos);
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
