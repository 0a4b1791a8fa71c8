#include "request/request.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace ooc_run {
namespace {

template <class T>
T read(const std::string& command, const std::vector<std::string>& words) {
  return std::get<T>(read_request(Arguments(find_command(command), words)));
}

TEST(RequestTest, HasTheDefaultsOfTheLibrary) {
  const auto request = read<HistogramRequest>("histogram", {"x.f32"});
  EXPECT_EQ(request.run.command, "histogram");
  EXPECT_EQ(request.run.files, std::vector<std::string>{"x.f32"});
  EXPECT_EQ(request.bins.bins, ooc::HistogramOptions{}.bins);
  EXPECT_FALSE(request.bins.range);
  EXPECT_EQ(request.run.options.chunk_bytes, 0u);
  EXPECT_TRUE(request.run.devices.empty());
  EXPECT_FALSE(request.run.device_kind());
  EXPECT_EQ(request.run.ordinal(), 0);
  EXPECT_FALSE(request.run.explain || request.run.verify || request.run.checksum);
  EXPECT_FALSE(request.run.side_files.plot || request.run.side_files.trace);
  EXPECT_FALSE(request.picture.logarithmic_counts);
}

TEST(RequestTest, HoldsEveryValueParsed) {
  const auto request = read<HistogramRequest>(
      "histogram",
      {"a",           "b",         "--bins",    "64",           "--range",    "-1:2.5",
       "--log-scale", "--chunk",   "1M",        "--device",     "cuda:3",     "--vram",
       "2G",          "--threads", "5",         "--io-timeout", "1.5",        "--plot",
       "p.svg",       "--trace",   "t.pftrace", "--report",     "r.html",     "--force",
       "--verify",    "--explain", "--json",    "--verbose",    "--progress", "plain"});
  EXPECT_EQ(request.run.files.size(), 2u);
  EXPECT_EQ(request.bins.bins, 64u);
  ASSERT_TRUE(request.bins.range);
  EXPECT_EQ(request.bins.range->lower, -1);
  EXPECT_EQ(request.bins.range->upper, 2.5);
  EXPECT_TRUE(request.picture.logarithmic_counts);
  EXPECT_EQ(request.run.options.chunk_bytes, 1 * ooc::detail::MiB);
  EXPECT_EQ(request.run.options.device_bytes, 2 * ooc::detail::GiB);
  EXPECT_EQ(request.run.options.threads, 5u);
  EXPECT_EQ(request.run.devices, (std::vector<DeviceName>{{ooc::DeviceKind::cuda, 3}}));
  EXPECT_EQ(request.run.side_files.plot, "p.svg");
  EXPECT_EQ(request.run.side_files.trace, "t.pftrace");
  EXPECT_EQ(request.run.side_files.report, "r.html");
  EXPECT_TRUE(request.run.side_files.replace && request.run.verify && request.run.explain);
  const OutputSettings& output = request.run.output;
  EXPECT_TRUE(output.json && output.verbose && !output.quiet);
  EXPECT_EQ(output.progress, ProgressMode::plain);
}

TEST(RequestTest, BinsAreANumberOrARule) {
  const auto bins = [](const char* word) {
    return read<HistogramRequest>("histogram", {"x", "--bins", word}).bins.bins;
  };
  EXPECT_EQ(bins("1e3"), 1000u);
  EXPECT_EQ(bins("sqrt"), ooc::BinRule::sqrt);
  EXPECT_EQ(bins("sturges"), ooc::BinRule::sturges);
  EXPECT_EQ(bins("scott"), ooc::BinRule::scott);
  EXPECT_EQ(bins("fd"), ooc::BinRule::fd);
  EXPECT_EQ(bins("auto"), ooc::BinRule::automatic);
  for (const char* word : {"doane", "SCOTT", "", "0"}) EXPECT_THROW(bins(word), ooc::Error);
}

TEST(RequestTest, QuietShowsNoProgress) {
  const Request request =
      read_request(Arguments(find_command("reduce"), {"x", "--quiet", "--progress", "plain"}));
  EXPECT_TRUE(output_settings(request).quiet);
  EXPECT_EQ(output_settings(request).progress, ProgressMode::none);
}

TEST(RequestTest, ReduceCountsInBinsOnlyIfAsked) {
  EXPECT_FALSE(read<ReduceRequest>("reduce", {"x"}).bins);
  const auto request = read<ReduceRequest>(
      "reduce", {"x", "--histogram", "16", "--log-bins", "--nan", "omit", "--exact"});
  ASSERT_TRUE(request.bins);
  EXPECT_EQ(request.bins->bins, 16u);
  EXPECT_TRUE(request.bins->logarithmic);
  EXPECT_EQ(request.reduce.nan, ooc::NanPolicy::omit);
  EXPECT_TRUE(request.reduce.exact);
}

TEST(RequestTest, TopFindsTheLargestUnlessAskedForTheSmallest) {
  const auto plain = read<TopRequest>("top", {"x"});
  EXPECT_EQ(plain.top.k, ooc::TopOptions{}.k);
  EXPECT_FALSE(plain.top.smallest);
  EXPECT_FALSE(plain.table);
  const auto request = read<TopRequest>("top", {"x", "-k", "1M", "--smallest", "--tsv"});
  EXPECT_EQ(request.top.k, 1'000'000u);
  EXPECT_TRUE(request.top.smallest);
  EXPECT_TRUE(request.table);
  EXPECT_EQ(read<TopRequest>("top", {"x", "-k16777216"}).top.k, ooc::max_top);
  for (const char* word : {"0", "16777217", "-1", "x"}) {
    EXPECT_THROW(read<TopRequest>("top", {"x", "-k", word}), ooc::Error) << word;
  }
}

TEST(RequestTest, DistinctCountsNothingUnlessAsked) {
  const auto plain = read<DistinctRequest>("distinct", {"x"});
  EXPECT_EQ(plain.distinct.counts, 0u);
  EXPECT_FALSE(plain.distinct.estimate);
  EXPECT_FALSE(plain.table);
  const auto request = read<DistinctRequest>("distinct", {"x", "--counts", "1K", "--tsv"});
  EXPECT_EQ(request.distinct.counts, 1000u);
  EXPECT_TRUE(request.table);
  EXPECT_TRUE(read<DistinctRequest>("distinct", {"x", "--estimate"}).distinct.estimate);
  for (const char* word : {"0", "1048577", "-1", "x"}) {
    EXPECT_THROW(read<DistinctRequest>("distinct", {"x", "--counts", word}), ooc::Error) << word;
  }
}

TEST(RequestTest, AnOutputHasTheTypeOfItsEndingOrOption) {
  EXPECT_EQ(read<ConvertRequest>("convert", {"x", "-o", "y.f32"}).type,
            ooc::DType{ooc::ElementType::f4});
  const auto request =
      read<ConvertRequest>("convert", {"x", "-o", "y.npy", "--to", ">i4", "--shape", "2x3"});
  EXPECT_EQ(request.type, (ooc::DType{ooc::ElementType::i4, true}));
  EXPECT_EQ(request.target.shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_FALSE(read<ConvertRequest>("convert", {"x", "-o", "y.bin"}).type);
}

TEST(RequestTest, AProductNeedsNoOutputToBeExplained) {
  EXPECT_TRUE(read<MatmulRequest>("matmul", {"a", "b", "--explain"}).target.path.empty());
  EXPECT_THROW(read<MatmulRequest>("matmul", {"a", "b"}), ooc::Error);
  const auto request = read<MatmulRequest>(
      "matmul", {"a", "b", "-o", "c", "--shape-a", "2x3", "--compute", "tf32", "--verify"});
  EXPECT_EQ(request.shape_a, (MatmulRequest::Shape{2, 3}));
  EXPECT_FALSE(request.shape_b);
  EXPECT_EQ(request.options.precision, ooc::Precision::tf32);
  EXPECT_TRUE(request.run.verify);
}

TEST(RequestTest, ThePlotOfBenchNeedsASweep) {
  EXPECT_FALSE(read<BenchRequest>("bench", {"x"}).sweep);
  EXPECT_TRUE(read<BenchRequest>("bench", {"x", "--plot", "p.png"}).sweep);
  EXPECT_EQ(read<BenchRequest>("bench", {"x", "--runs", "3"}).rounds, 3u);
}

TEST(RequestTest, GeneratedDataHasACount) {
  const auto by_size = read<GenRequest>("gen", {"-o", "x.f64", "--size", "1K"});
  EXPECT_EQ(by_size.count, 128u);
  EXPECT_FALSE(by_size.threads);
  const auto by_count = read<GenRequest>(
      "gen", {"-o", "x.npy", "--count", "10", "--pattern", "constant", "--value", "7"});
  EXPECT_EQ(by_count.count, 10u);
  EXPECT_EQ(by_count.generator.type.element, ooc::ElementType::f4);
  EXPECT_EQ(by_count.generator.pattern, Pattern::constant);
  EXPECT_EQ(by_count.generator.value, 7);
}

TEST(RequestTest, EveryCommandHasOne) {
  for (const Command& command : commands()) {
    std::vector<std::string> words;
    if (command.name == "gen") {
      words = {"-o", "y.bin", "--count", "1"};
    } else if (command.name == "convert" || command.name == "scan" || command.name == "gram" ||
               command.name == "cov") {
      words = {"x", "-o", "y.bin"};
    } else if (command.name == "matmul") {
      words = {"a", "b", "-o", "c"};
    } else if (command.name == "split") {
      words = {"x", "-o", "{}", "--edges", "1"};
    } else if (command.name == "filter") {
      words = {"x", "-o", "y", "--above", "1"};
    } else if (command.files == FileWords::some) {
      words = {"x"};
    }
    words.emplace_back("--json");
    EXPECT_TRUE(output_settings(read_request(Arguments(command, words))).json) << command.name;
  }
}

}  // namespace
}  // namespace ooc_run
