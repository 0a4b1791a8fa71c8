#include "page/run_page.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "draw/page_chart.hpp"
#include "page/fact_html.hpp"

namespace ooc_run {
namespace {

using namespace std::chrono_literals;
using testing::Test;

class RunPageTest : public Test {
 protected:
  RunPageTest() {
    ooc::Stats stats;
    stats.outcome.bytes = 8'000'000'000;
    stats.timing.seconds = 2;
    stats.layout.chunks = 477;
    stats.layout.streams = 2;
    stats.timing.disk.busy = 1.5;
    const std::vector<std::string> reasons{"buffered: <file> & more"};
    run_ = describe_run(stats, false, reasons, "disk-bound: 4.00 GB/s");
  }

  std::string draw(const Ceilings& ceilings = {}) const {
    return draw_page({.command = "reduce",
                      .heading = heading_,
                      .input = input_,
                      .result = result_,
                      .run = run_,
                      .figure = {}},
                     record_, ceilings);
  }

  static bool has(const std::string& page, std::string_view text) {
    return page.find(text) != std::string::npos;
  }

  std::string heading_ = "x.f32: values";
  Json input_{{"files", Json::array({{{"path", "x.f32"}, {"bytes", 8'000'000'000}}})},
              {"dtype", "<f4"},
              {"bytes", 8'000'000'000}};
  Json result_{{"count", 2'000'000'000}, {"sum", json_number(0.1)}, {"verified", nullptr}};
  Json run_;
  RunRecord record_;
};

TEST_F(RunPageTest, NumbersAreForPeopleAndExact) {
  const std::string page = draw();
  EXPECT_TRUE(has(page,
                  "<tr><th scope=\"row\" title=\"count\">values</th><td><data value=\"2000000000\">"
                  "2,000,000,000</data></td></tr>"));
  EXPECT_TRUE(has(page, "<data value=\"0.1\">0.1</data>"));
  EXPECT_TRUE(has(page, "<data value=\"8000000000\">8.00 GB (7.45 GiB)</data>"));
  EXPECT_TRUE(has(page, "<p class=\"banner verdict\">disk-bound: 4.00 GB/s</p>"));
}

TEST_F(RunPageTest, FactsThatBelongTogetherAreATable) {
  result_ = {{"count", 7}, {"min", 1},  {"nan", 2},
             {"max", 3},   {"news", 4}, {"plan", {{"rows", 5}}}};
  const std::string page = draw();
  const auto group = [](std::string_view title, const std::string& rows) {
    return fmt::format("<div class=\"group\">\n<h3>{}</h3>\n{}</div>\n", title, fact_table(rows));
  };
  EXPECT_TRUE(has(page, "<div class=\"groups\">\n" +
                            group("values", fact_rows({{"count", 7}, {"nan", 2}})) +
                            group("extremes", fact_rows({{"min", 1}, {"max", 3}})) +
                            group("other", fact_rows({{"news", 4}})) +
                            group("plan", fact_rows({{"rows", 5}})) + "</div>\n"));
}

TEST_F(RunPageTest, AProductBeginsWithItsArithmetic) {
  EXPECT_FALSE(has(draw(), "FLOP/s"));
  result_["flops"] = json_integer(ooc::int128{3'000'000'000'000});
  EXPECT_TRUE(has(draw(), "<div class=\"figures\">\n<div class=\"figure\"><b>1.50 TFLOP/s</b>"));
}

TEST_F(RunPageTest, WithoutCopiesThereIsNoRowOfThem) {
  const auto row = [](std::string_view stage) {
    return fmt::format("<tr><th scope=\"row\">{}</th><td class=\"bars\">", stage);
  };
  for (const char* copy : {"h2d", "d2h"}) {
    run_["stages"][copy] = run_["stages"]["disk"];
    run_["stages"][copy]["busy_seconds"] = 0.0;
    run_["stages"][copy]["waits_in_seconds"] = 0.5;
  }
  std::string page = draw();
  EXPECT_FALSE(has(page, row("h2d")));
  EXPECT_FALSE(has(page, row("d2h")));
  EXPECT_TRUE(has(page, row("disk")));
  const std::string kernel = page.substr(page.find(row("kernel")));
  EXPECT_TRUE(has(kernel.substr(0, kernel.find("</tr>")), "<data value=\"1.0\">1.00 s</data>"));
  EXPECT_TRUE(has(page, ", for kernel times 2 streams."));

  run_["stages"]["h2d"]["busy_seconds"] = 0.25;
  run_["device"] = "NVIDIA H200";
  page = draw();
  EXPECT_TRUE(has(page, row("h2d")));
  EXPECT_TRUE(has(page, ", for h2d and kernel times 2 streams."));
}

TEST_F(RunPageTest, OnACpuCopiesAreNotToADevice) {
  const ooc::TraceEvent::Clock::time_point start{};
  record_.record({.kind = ooc::TraceEvent::Kind::h2d, .begin = start, .end = start + 10ms});
  run_["stages"]["h2d"]["busy_seconds"] = 0.01;
  run_["device"] = "NVIDIA H200";
  EXPECT_TRUE(has(draw(), "<th scope=\"row\">h2d</th>"));
  EXPECT_TRUE(has(draw(), "<span class=\"swatch h2d\"></span>h2d</li>"));
  run_["device"] = "cpu";
  const std::string page = draw();
  EXPECT_TRUE(has(page, "<th scope=\"row\">copy in</th>"));
  EXPECT_TRUE(has(page, "<span class=\"swatch h2d\"></span>copy in</li>"));
  EXPECT_TRUE(has(page, "<title>copy in 0: "));
  EXPECT_FALSE(has(page, ">h2d"));
}

/// 32 slots read and two lanes compute without a pause, which makes more events than pixels.
TEST_F(RunPageTest, ManyEventsTakeFewBytes) {
  const ooc::TraceEvent::Clock::time_point start{};
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t slot = 0; slot < 32; ++slot) {
      const auto begin = start + 1ms * round + 20us * slot;
      record_.record({.kind = ooc::TraceEvent::Kind::read,
                      .worker = slot,
                      .chunk = static_cast<std::size_t>(round) * 32 + slot,
                      .bytes = 1'000'000,
                      .begin = begin,
                      .end = begin + 700us});
      record_.record({.kind = ooc::TraceEvent::Kind::kernel,
                      .worker = slot % 2,
                      .chunk = static_cast<std::size_t>(round) * 32 + slot,
                      .bytes = 1'000'000,
                      .begin = begin,
                      .end = begin + 15us});
    }
  }
  const std::string page = draw();
  EXPECT_LT(page.size(), 150'000u);
  EXPECT_TRUE(has(page, "<title>read 0 to "));
  EXPECT_TRUE(has(page, " times: "));
}

TEST_F(RunPageTest, TextIsText) {
  heading_ = "a<b>&\"\x01\xff.f32: 1 value\nanother";
  input_["files"][0]["path"] = "a<b>&\".f32\n";
  const std::string page = draw();
  EXPECT_TRUE(has(page, "<p class=\"heading\">a&lt;b&gt;&amp;&quot; \ufffd.f32: 1 value\nanother"));
  EXPECT_TRUE(has(page, "<td>a&lt;b&gt;&amp;&quot;.f32\\n</td>"));
  EXPECT_TRUE(has(page, "<li>buffered: &lt;file&gt; &amp; more</li>"));
  EXPECT_FALSE(has(page, "<b>&\""));
}

TEST_F(RunPageTest, TheBinsOfAReductionAreItsHistograms) {
  result_["histogram"] = {{"bins", 2},
                          {"edges", json_list(std::vector<double>{0, 0.5, 1})},
                          {"counts", json_list(std::vector<std::uint64_t>{7, 11})}};
  const std::string page = draw();
  EXPECT_TRUE(has(page, "2 bins in figures"));
  EXPECT_TRUE(has(page, "<data value=\"11\">11</data>"));
}

/// For example, a matrix product may read all its input long before it ends.
TEST_F(RunPageTest, WhatIsNotReadHasNoRate) {
  const ooc::TraceEvent::Clock::time_point start{};
  record_.record(
      {.kind = ooc::TraceEvent::Kind::read, .bytes = 1'000, .begin = start, .end = start + 100ms});
  record_.record({.kind = ooc::TraceEvent::Kind::kernel, .begin = start, .end = start + 1s});
  record_.finish();
  const std::string page = draw();
  const std::size_t begin = page.find("class=\"rate read\"");
  ASSERT_NE(begin, page.npos);
  const std::string path =
      page.substr(page.rfind("<path", begin), begin - page.rfind("<path", begin));
  const std::size_t last = path.rfind('H');
  EXPECT_LT(std::stod(path.substr(last + 1)), 0.2 * PageChart::width) << path;
}

TEST_F(RunPageTest, NeedsNothingButItself) {
  for (const char* foreign : {"http:", "https:", "<script", "<link", "<img", "@import", "url("}) {
    EXPECT_FALSE(has(draw(), foreign)) << foreign;
  }
}

TEST_F(RunPageTest, SaysWhatIsAmiss) {
  EXPECT_FALSE(has(draw(), "banner bad"));
  result_["partial"] = true;
  result_["covered_bytes"] = 2'000'000'000;
  EXPECT_TRUE(has(draw(), "PARTIAL: interrupted; the result covers 2.00 GB of 8.00 GB"));
  result_["verified"] = false;
  EXPECT_TRUE(has(draw(), "WRONG: "));
}

TEST_F(RunPageTest, ShortRunsHaveNoVerdict) {
  run_["verdict"] = nullptr;
  EXPECT_TRUE(has(draw(), "No verdict: "));
}

TEST_F(RunPageTest, ShowsRatesAgainstWhatHasBeenMeasured) {
  const auto start = ooc::TraceEvent::Clock::now();
  for (int i = 0; i < 100; ++i) {
    record_.record({.kind = ooc::TraceEvent::Kind::read,
                    .chunk = static_cast<std::size_t>(i),
                    .bytes = 40'000'000,
                    .begin = start + 10ms * i,
                    .end = start + 10ms * (i + 1)});
  }
  EXPECT_TRUE(has(draw(), "read: highest 4.00 GB/s</li>"));
  EXPECT_TRUE(has(draw(), "has not been measured: <code>ooc-run bench FILE</code>"));
  const std::string page = draw({.disk = 5e9, .kernel = 500e9});
  EXPECT_TRUE(has(page, "disk, read directly: measured ceiling 5.00 GB/s</li>"));
  EXPECT_TRUE(has(page, "in place: measured ceiling 500 GB/s, beyond this scale</li>"));
  EXPECT_FALSE(has(page, "at most"));
  EXPECT_TRUE(has(page, "class=\"ceiling disk-ceiling\""));
  EXPECT_FALSE(has(page, "class=\"ceiling kernel-ceiling\""));
  EXPECT_FALSE(has(page, "has not been measured"));
  EXPECT_TRUE(has(page, "<h3>The first 200 ms</h3>"));
  EXPECT_TRUE(has(page, "200 ms in the middle, 400 ms after the beginning"));
  EXPECT_TRUE(has(page, "<title>read 99: 40.0 MB in 10.0 ms</title>"));
}

TEST(PageFacts, IntegersOfAnyLength) {
  const Json sum = json_integer(ooc::int128{1'000'000'000'000'000'000} * 1000);
  EXPECT_EQ(html_value("sum", sum),
            "<data value=\"1000000000000000000000\">1,000,000,000,000,000,000,000</data>");
}

TEST(PageFacts, ValuesByTheirNames) {
  EXPECT_EQ(html_value("seconds", 0.5), "<data value=\"0.5\">500 ms</data>");
  EXPECT_EQ(html_value("page_cache_fraction", 0.25), "<data value=\"0.25\">25 %</data>");
  EXPECT_EQ(html_value("sum", "NaN"), "<data value=\"NaN\">NaN</data>");
  EXPECT_EQ(html_value("direct", true), "<data value=\"true\">yes</data>");
  EXPECT_EQ(html_value("sum", nullptr), "–");
  EXPECT_EQ(html_value("shape", Json::array({2u, 3u})),
            "<data value=\"2\">2</data> × <data value=\"3\">3</data>");
}

TEST(PageFacts, WhatIsWithinHasItsNameBefore) {
  EXPECT_EQ(fact_rows({{"plan", {{"tile_rows", 7}, {"reasons", Json::array()}}}}),
            "<tr><th scope=\"row\">plan: tile rows</th><td><data value=\"7\">7</data></td></tr>\n");
}

TEST(PageFacts, SeveralFilesAreAllNamed) {
  Json files = Json::array();
  for (int i = 0; i < 60; ++i) files.push_back({{"path", fmt::format("f{}", i)}, {"bytes", 7}});
  const std::string table = input_tables({{"files", files}});
  EXPECT_NE(table.find("<th scope=\"row\">file 50</th><td>f49, <data value=\"7\">7 bytes</data>"),
            std::string::npos);
  EXPECT_NE(table.find("and 10 files more"), std::string::npos);
}

TEST(PageFacts, SeveralInputsHaveTheirNames) {
  const Json one{{"files", Json::array({{{"path", "a"}, {"bytes", 1}}})}, {"bytes", 1}};
  const std::string tables = input_tables({{"a", one}, {"b", one}});
  EXPECT_NE(tables.find("<h3>a</h3>"), std::string::npos);
  EXPECT_NE(tables.find("<h3>b</h3>"), std::string::npos);
}

}  // namespace
}  // namespace ooc_run
