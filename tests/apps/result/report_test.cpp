#include "result/report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/type_words.hpp"

namespace ooc_run {
namespace {

std::string result_line(const Json& result) {
  const std::string text = document("reduce", nullptr, result, nullptr).text();
  const std::size_t begin = text.find("\"result\": ") + 10;
  return text.substr(begin, text.find(",\n \"run\"") - begin);
}

TEST(Report, IntegersOfAnyLength) {
  using Limits = std::numeric_limits<std::int64_t>;
  const ooc::int128 most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(result_line({{"sum", json_integer(most)}}), R"({"sum":18446744073709551615})");
  EXPECT_EQ(result_line({{"sum", json_integer(most + 1)}, {"min", 3}}),
            R"({"sum":18446744073709551616,"min":3})");
  EXPECT_EQ(result_line({{"a", json_integer(Limits::min())},
                         {"b", json_integer(ooc::int128{Limits::min()} - 1)},
                         {"c", json_integer(most / 2 * most)}}),
            R"({"a":-9223372036854775808,"b":-9223372036854775809,)"
            R"("c":170141183460469231704017187605319778305})");
}

TEST(Report, WhatIsNotANumberIsAString) {
  EXPECT_EQ(result_line({{"a", json_number(std::numeric_limits<double>::quiet_NaN())},
                         {"b", json_number(HUGE_VAL)},
                         {"c", json_number(-HUGE_VAL)},
                         {"d", json_number(std::optional<double>{})},
                         {"e", json_number(ooc::Scalar{})},
                         {"f", json_number(0.1)}}),
            R"({"a":"NaN","b":"Infinity","c":"-Infinity","d":null,"e":null,"f":0.1})");
}

TEST(Report, PathsThatAreNotText) {
  const std::string line = result_line({{"path", "\xff\x01\"5"}});
  EXPECT_EQ(line, R"({"path":"\ufffdff\u0001\"5"})");
}

TEST(Report, DocumentIsJson) {
  const Json json =
      Json::parse(document("reduce", {{"count", 1}}, {{"sum", 2}}, {{"seconds", 0.5}}).text());
  EXPECT_EQ(json["schema"], "ooc.result/1");
  EXPECT_EQ(json["run"]["seconds"], 0.5);
  EXPECT_EQ(json["warnings"], Json::array());
  EXPECT_EQ(json.size(), 6u);
  const std::vector<std::string> warnings{"x.f32: \"odd\"", "y"};
  EXPECT_EQ(Json::parse(document("reduce", {}, {}, {}, warnings).text())["warnings"],
            Json(warnings));
}

TEST(Report, TheFooterSaysWhatOfARunWasTheStartOfTheGpu) {
  ooc::Stats stats;
  stats.outcome.bytes = 8'000'000'000;
  stats.timing.seconds = 0.5;
  stats.layout.device = "cuda:0 NVIDIA H200";
  stats.timing.startup_seconds = 0.3;
  stats.timing.device_seconds = 0.04;
  EXPECT_EQ(footer(stats), "8.00 GB in 500 ms, 16.0 GB/s, cuda:0 NVIDIA H200");
  stats.timing.device_seconds = 0.25;
  EXPECT_EQ(footer(stats),
            "8.00 GB in 500 ms (250 ms of it the GPU's start), 16.0 GB/s, cuda:0 NVIDIA "
            "H200");
  stats.layout.read_ahead_bytes = 1 << 30;
  stats.timing.disk.busy = 0.25;  // read before the start-up ended
  EXPECT_NE(footer(stats).find("(250 ms of it the GPU's start)"), std::string::npos);
  stats.timing.disk.busy = 0.5;
  EXPECT_EQ(footer(stats), "8.00 GB in 500 ms, 16.0 GB/s, cuda:0 NVIDIA H200");
}

TEST(Report, TheFooterSaysWhichDeviceAndWhichWay) {
  ooc::Stats stats;
  stats.outcome.bytes = 8'000'000'000;
  stats.timing.seconds = 2;
  stats.layout.device = "cpu";
  stats.layout.engine = "uring";
  stats.layout.direct = true;
  EXPECT_EQ(footer(stats), "8.00 GB in 2.00 s, 4.00 GB/s, CPU, direct, io_uring");
  stats.layout.engine = "threads";
  stats.layout.in_order = false;
  stats.layout.page_cache_fraction = 0.28;
  EXPECT_EQ(footer(stats), "8.00 GB in 2.00 s, 4.00 GB/s, CPU, 28 % from page cache, rest direct");
  stats.layout.direct = false;
  EXPECT_EQ(footer(stats),
            "8.00 GB in 2.00 s, 4.00 GB/s, CPU, 28 % from page cache, rest buffered");
  stats.layout.page_cache_fraction = 0;
  stats.outcome.passes = 2;
  EXPECT_EQ(footer(stats), "8.00 GB in 2.00 s, 4.00 GB/s, CPU, buffered, threads, 2 passes");
  stats.layout.page_cache_fraction = 1;
  stats.outcome.resident_bytes = 8'000'000'000;
  EXPECT_EQ(footer(stats),
            "8.00 GB in 2.00 s, 4.00 GB/s, CPU, page cache, 2 passes, the second from GPU "
            "memory");
  stats.outcome.resident_bytes = 2'000'000'000;
  EXPECT_EQ(footer(stats),
            "8.00 GB in 2.00 s, 4.00 GB/s, CPU, page cache, 2 passes, 25 % of the second "
            "from GPU memory");
  stats.outcome.resident_bytes = 0;
  stats.outcome.passes = 1;
  EXPECT_EQ(footer(stats), "8.00 GB in 2.00 s, 4.00 GB/s, CPU, page cache");
}

TEST(Report, PathsAreAsciiThatTerminalsDoNotObey) {
  EXPECT_EQ(result_line({{"path", "\u202e\u0085\x7f\u00df"}, {"list", {"\xff", "a"}}}),
            R"({"path":"\u202e\u0085\u007f\u00df","list":["\ufffdff","a"]})");
}

TEST(Report, PartialResultsSaySo) {
  ooc::Stats stats;
  stats.outcome.bytes = 42;
  Json result{{"count", 1}};
  mark_partial(result, stats);
  EXPECT_EQ(result.dump(), R"({"count":1})");
  stats.outcome.partial = true;
  mark_partial(result, stats);
  EXPECT_EQ(result.dump(), R"({"count":1,"partial":true,"covered_bytes":42})");
}

TEST(Report, StagesThatBringBackAndWriteAreThoseOfCommandsThatWrite) {
  ooc::Stats stats;
  stats.outcome.bytes = 4000;
  stats.outcome.bytes_written = 2000;
  stats.timing.disk.busy = stats.timing.write.busy = 2;
  const Json fold = describe_run(stats, false, {}, "");
  EXPECT_TRUE(fold["stages"]["d2h"].is_null());
  EXPECT_TRUE(fold["stages"]["write"].is_null());
  EXPECT_TRUE(fold["publish_seconds"].is_null());
  EXPECT_EQ(fold["stages"]["disk"]["bytes_per_second"], 2000);
  const Json map = describe_run(stats, true, {}, "");
  EXPECT_EQ(map["stages"]["write"]["bytes_per_second"], 1000);
  EXPECT_TRUE(map["stages"]["d2h"]["bytes_per_second"].is_null());
  EXPECT_EQ(map["publish_seconds"], 0);
}

TEST(Report, TypesForPeople) {
  EXPECT_EQ(describe_type({ooc::ElementType::f4, true}), "float32, bytes swapped");
  EXPECT_EQ(describe_values(1, {ooc::ElementType::u1}), "1 value of uint8");
  EXPECT_EQ(describe_values(1000, {ooc::ElementType::u1}), "1,000 values of uint8");
}

TEST(Report, NumbersForPeople) {
  EXPECT_EQ(format_number(ooc::int128{1234567}), "1,234,567");
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(ooc::Scalar{}), "-");
  using enum ooc::ElementType;
  EXPECT_EQ(format_element(double{0.1F}, f4), "0.1");
  EXPECT_EQ(format_element(double{0.1F}, f8), "0.10000000149011612");
  EXPECT_EQ(format_element(ooc::int128{1234567}, i4), "1,234,567");
  EXPECT_EQ(format_element(ooc::Scalar{}, f4), "-");
}

}  // namespace
}  // namespace ooc_run
