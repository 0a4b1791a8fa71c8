#include "histogram/find_bins.hpp"

#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/histogram/each_device.hpp"
#include "kernels/histogram/expect_histogram.hpp"
#include "support/data_file.hpp"
#include "support/special_values.hpp"
#include "support/wrapped_engine.hpp"

// Histograms of two passes: the first finds the range of the bins, the second counts in them.

namespace ooc::detail {
namespace {

using test::infinity;
using test::nan;

class FindBinsTest : public test::HistogramOnEachDevice {
 protected:
  void expect_changed(const Source& source, Options run) {
    expect_error(ErrorKind::input_changed, source, {}, std::move(run));
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, FindBinsTest, test::all_devices, test::device_name);

/// Options that call `action` before the second pass.
Options before_second_pass(std::function<void()> action) {
  Options options;
  options.make_engine = [action, passes = 0](const EngineOptions& wanted) mutable {
    if (++passes == 2) action();
    return make_engine(wanted);
  };
  return options;
}

TEST_P(FindBinsTest, TakesTheTimeOfBothPasses) {
  constexpr std::chrono::milliseconds delay{20};
  Options options;
  options.make_engine = [delay, passes = 0](const EngineOptions& wanted) mutable {
    if (++passes == 1) std::this_thread::sleep_for(delay);
    return make_engine(wanted);
  };
  const Stats stats = count(source_of(std::vector<float>{1, 2, 3}), {}, options).stats;
  EXPECT_GE(stats.timing.seconds, std::chrono::duration<double>(delay).count());
}

TEST_P(FindBinsTest, NoticesThatTheInputChanged) {
  std::vector<float> values(100'000, 1);
  values[0] = 2;
  for (const double intruder : {3.0, 0.0, infinity, -infinity, nan}) {
    const Source source = source_of(values);
    auto changed = values;
    changed[99'999] = static_cast<float>(intruder);
    expect_changed(source, before_second_pass([&] { test::write_file(path(), changed); }));
  }
  const Source source = source_of(values);  // a change within the range may go unnoticed
  EXPECT_EQ(count(source, {}, before_second_pass([] {})).value.count, values.size());
}

/// Replaces the last float of the file.
class ReplacingEngine final : public test::WrappedEngine {
 public:
  ReplacingEngine(std::unique_ptr<Engine> engine, std::uint64_t offset, float value)
      : WrappedEngine(std::move(engine)), offset_(offset), value_(value) {}

  Request& wait() override {
    Request& request = WrappedEngine::wait();
    if (request.offset <= offset_ && offset_ + sizeof value_ <= request.offset + request.done) {
      std::memcpy(request.memory + (offset_ - request.offset), &value_, sizeof value_);
    }
    return request;
  }

 private:
  std::uint64_t offset_;
  float value_;
};

/// The file looks unchanged; only the counts of the two passes differ.
TEST_P(FindBinsTest, NoticesThatTheSecondPassReadOtherValues) {
  std::vector<float> values(100'000, 1);
  values[0] = 2;
  const Source source = source_of(values);
  for (const double intruder : {1.5, 3.0, 0.0, infinity, -infinity, nan}) {
    Options run{.direct = DirectIo::no};
    run.make_engine = [&, passes = 0](const EngineOptions& wanted) mutable {
      std::unique_ptr<Engine> engine = make_engine(wanted);
      if (++passes == 1) return engine;
      const std::uint64_t last = source.bytes() - sizeof(float);
      engine =
          std::make_unique<ReplacingEngine>(std::move(engine), last, static_cast<float>(intruder));
      return engine;
    };
    if (GetParam() == DeviceKind::cuda) {  // the GPU has kept the values of the first pass
      const auto [found, stats] = count(source, {}, run);
      EXPECT_EQ(found.counts.front(), values.size() - 1);
      EXPECT_EQ(stats.outcome.resident_bytes, source.bytes());
    } else if (intruder == 1.5) {  // within the range, so the counts cannot show it
      EXPECT_EQ(count(source, {}, run).value.counts[128], 1u);
    } else {
      expect_changed(source, run);
    }
  }
}

TEST_P(FindBinsTest, NoticesWithAChecksumThatTheInputChangedWithinItsRange) {
  std::vector<float> values(100'000, 1);
  values[0] = 2;
  values[1] = 0;
  const Source source = source_of(values);
  auto changed = values;
  changed[99'999] = 1.5;
  const PassOptions with_checksum{.checksum = true};
  const std::string before = *count(source, {}, {}, with_checksum).stats.outcome.checksum;
  try {
    const auto change = [&] {
      const auto time = std::filesystem::last_write_time(path());
      test::write_file(path(), changed);
      std::filesystem::last_write_time(path(), time);
      // The new mode explains the new ctime, so the file looks unchanged.
      std::filesystem::permissions(path(), std::filesystem::perms::owner_exec,
                                   std::filesystem::perm_options::add);
    };
    count(source, {}, before_second_pass(change), with_checksum);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input_changed);
    const std::string after = *count(source, {}, {}, with_checksum).stats.outcome.checksum;
    EXPECT_NE(before, after);
    for (const std::string& checksum : {before, after}) {
      EXPECT_NE(error.details().why.find(checksum), std::string::npos) << error.details().why;
    }
  }
}

TEST_P(FindBinsTest, CountsWhatTheFirstPassHasLeftOnAGpu) {
  const auto values = test::varied_values<float>(20 * tile_elements + 3);
  const Source source = source_of(values);
  const auto [found, stats] = count(source);
  EXPECT_EQ(stats.outcome.passes, 2u);
  EXPECT_EQ(stats.outcome.bytes, source.bytes());
  const bool stays = GetParam() == DeviceKind::cuda;
  EXPECT_EQ(stats.outcome.resident_bytes, stays ? source.bytes() : 0);
  const auto checked = count(source, {}, {}, {.checksum = true});
  EXPECT_EQ(checked.stats.outcome.resident_bytes, 0u);
  EXPECT_EQ(checked.value.counts, found.counts);
  EXPECT_EQ(dry_run_histogram({}, GetParam(), source).outcome.resident_bytes,
            stats.outcome.resident_bytes);
}

/// Data of whose mean and variance the last bits depend on the order of additions.
TEST_P(FindBinsTest, ARuleGivesTheSameBinsHoweverThePassIsDivided) {
  auto values = test::varied_values<float>(20 * tile_elements + 3);
  std::erase_if(values, [](float value) { return std::isinf(value); });
  const Source source = source_of(values);
  for (const BinRule rule : {BinRule::sqrt, BinRule::sturges, BinRule::scott, BinRule::automatic}) {
    const std::size_t passes = histogram_passes(source, {.bins = rule});
    Coordinator alone(make_device(DeviceKind::cpu));
    const Histogram expected = histogram(alone, source, {.bins = rule}).value;
    for (const std::size_t tiles : {1, 3, 50}) {
      const auto [found, stats] = count(source, {.bins = rule}, {.chunk_bytes = tiles * 4 * 65536});
      test::expect_equal(found, expected);
      EXPECT_EQ(stats.outcome.passes, passes);
    }
  }
}

TEST_P(FindBinsTest, RulesByQuartilesGiveTheBinsOfNumPy) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i < 10 ? -1000.0 * i : i);
  const Source source = source_of(values);  // the quartiles are 249.75 and 749.25
  EXPECT_EQ(histogram_passes(source, {.bins = BinRule::fd}), 5u);
  EXPECT_EQ(count(source, {.bins = BinRule::fd}).value.counts.size(), 101u);
  EXPECT_EQ(count(source, {.bins = BinRule::automatic}).value.counts.size(), 64u);
  const Source constant = source_of(std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 9});
  EXPECT_EQ(count(constant, {.bins = BinRule::fd}).value.counts.size(), 1u);
  EXPECT_EQ(count(constant, {.bins = BinRule::automatic}).value.counts.size(), 6u);
  values.push_back(infinity);
  expect_error(ErrorKind::bad_input, source_of(values), {.bins = BinRule::automatic});
  expect_error(ErrorKind::bad_input, source_of(std::vector<double>{-1.5e308, 1.5e308, 0, 1}),
               {.bins = BinRule::fd});
  Coordinator coordinator(make_device(DeviceKind::cpu));
  EXPECT_THROW(static_cast<void>(collect_bins(coordinator, source, {.bins = BinRule::fd})), Error);
}

TEST_P(FindBinsTest, ARuleLooksAtTheFiniteValues) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, nan};
  Histogram found = count(source_of(values), {.bins = BinRule::sqrt}).value;
  EXPECT_EQ(found.edges.size(), 4u);
  EXPECT_EQ(found.nan, 1u);
  EXPECT_EQ(count(source_of(values), {.bins = BinRule::scott}).value.counts.size(), 2u);
  auto infinite = values;
  infinite.push_back(infinity);
  found = count(source_of(infinite), {.bins = BinRule::sturges}).value;
  EXPECT_EQ(found.edges.front(), 1);
  EXPECT_EQ(found.edges.back(), 9);
  EXPECT_EQ(found.above, 1u);
  expect_error(ErrorKind::bad_input, source_of(infinite), {.bins = BinRule::scott});
  expect_error(ErrorKind::bad_input, source_of(std::vector<double>{-1e200, 0, 1e200}),
               {.bins = BinRule::scott});
  expect_error(ErrorKind::bad_input, source_of(std::vector<double>{nan}), {.bins = BinRule::sqrt});
}

TEST_P(FindBinsTest, ARuleIsOfTheRangeOfTheDataForEveryType) {
  const Source bytes = source_of(std::vector<std::uint8_t>{3, 5, 10, 20});
  EXPECT_EQ(count(bytes, {.bins = BinRule::sqrt}).value.edges, (std::vector<double>{3, 11.5, 20}));
  EXPECT_EQ(count(bytes).value.edges.front(), 0);
  EXPECT_EQ(histogram_passes(bytes, {.bins = BinRule::sqrt}), 2u);
  const Source equal = source_of(std::vector<std::int8_t>(100, 5));
  EXPECT_EQ(count(equal, {.bins = BinRule::scott}).value.edges, (std::vector<double>{4.5, 5.5}));
  const Source empty = source_of(std::vector<std::uint8_t>{});
  EXPECT_TRUE(count(empty, {.bins = BinRule::scott}).value.edges.empty());
}

TEST_P(FindBinsTest, RefusesWhatARuleExcludes) {
  const Source source = source_of(std::vector<float>{1, 2});
  expect_error(ErrorKind::usage, source, {.bins = BinRule::sqrt, .range = {{0, 1}}});
  expect_error(ErrorKind::usage, source, {.bins = BinRule::sqrt, .logarithmic = true});
  EXPECT_EQ(count(source, {.bins = BinRule::sqrt, .edges = {0, 9}}).value.counts.size(), 1u);
  EXPECT_THROW(CountBins<float>({.bins = BinRule::sqrt}), Error);
}

TEST_P(FindBinsTest, StopsEarly) {
  const auto values = test::varied_values<float>(20 * tile_elements);
  const Source source = source_of(values);
  std::stop_source stopped;
  stopped.request_stop();
  const auto [nothing, stats] = count(source, {}, {.chunk_bytes = 4 * tile_elements},
                                      {.stop = stopped.get_token(), .keep_partial = true});
  EXPECT_THROW(count(source, {}, {}, {.stop = stopped.get_token()}), Error);
  EXPECT_TRUE(stats.outcome.partial);
  EXPECT_EQ(stats.outcome.bytes, 0u);
  EXPECT_EQ(nothing.count, 0u);

  std::stop_source stop;
  Options options = before_second_pass([&] { stop.request_stop(); });
  options.chunk_bytes = 4 * tile_elements;
  const auto [prefix, prefix_stats] =
      count(source, {}, options, {.stop = stop.get_token(), .keep_partial = true});
  EXPECT_TRUE(prefix_stats.outcome.partial);
  EXPECT_EQ(prefix.count * sizeof(float), prefix_stats.outcome.bytes);
  EXPECT_FALSE(prefix.edges.empty());
}

/// Returns the saved part of the bins, merged from as many sections.
std::vector<std::byte> bins_of_sections(Coordinator& coordinator, const Source& source,
                                        const HistogramOptions& options, std::uint64_t sections) {
  auto all = collect_bins(coordinator, shard(source, sections - 1, sections), options).value;
  for (std::uint64_t i = 0; i + 1 < sections; ++i) {
    all.merge(collect_bins(coordinator, shard(source, i, sections), options).value);
  }
  return all.save();
}

TEST_P(FindBinsTest, SectionsChooseTheBinsOfTheWhole) {
  auto values = test::varied_values<float>(20 * tile_elements + 3);
  std::erase_if(values, [](float value) { return std::isinf(value); });
  values[7] = static_cast<float>(nan);
  const Source source = source_of(values);
  Coordinator coordinator(make_device(GetParam()));
  for (const HistogramOptions& options :
       {HistogramOptions{.bins = 10}, HistogramOptions{.bins = BinRule::sqrt},
        HistogramOptions{.bins = BinRule::scott}}) {
    const Histogram expected = histogram(coordinator, source, options).value;
    for (const std::uint64_t sections : {1, 3, 30}) {  // of 30, some are empty
      const auto saved = bins_of_sections(coordinator, source, options, sections);
      const ChosenBins chosen = load_bins(ElementType::f4, options, saved).result();
      EXPECT_EQ(histogram_passes(source, chosen.options), 1u);
      const Histogram found = histogram(coordinator, source, chosen.options).value;
      test::expect_equal(found, expected);
      EXPECT_EQ(chosen.nan, expected.nan);
      require_unchanged(chosen, found);
      Histogram other = found;
      ++other.above;
      EXPECT_THROW(require_unchanged(chosen, other), Error);
    }
  }
}

TEST_P(FindBinsTest, PartsOfOtherBinsOrForgedOnesAreRefused) {
  const Source source = source_of(std::vector<float>(3 * tile_elements, 1));
  Coordinator coordinator(make_device(GetParam()));
  const HistogramOptions by_scott{.bins = BinRule::scott};
  const auto saved = bins_of_sections(coordinator, source, by_scott, 2);
  const auto refused = [&](ErrorKind kind, const HistogramOptions& options,
                           std::vector<std::byte> bytes) {
    try {
      load_bins(ElementType::f4, options, bytes);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
    }
  };
  refused(ErrorKind::usage, {}, saved);
  refused(ErrorKind::usage, {.range = HistogramOptions::Range{0, 1}}, saved);
  EXPECT_THROW(static_cast<void>(collect_bins(coordinator, source, {.edges = {0, 1}})), Error);
  refused(ErrorKind::usage, {.bins = BinRule::sqrt}, saved);
  EXPECT_THROW(load_bins(ElementType::f8, by_scott, saved), Error);
  const auto begin = saved.begin();
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= saved.size(); ++i) {
    std::uint64_t elements = 0;
    std::memcpy(&elements, saved.data() + i, sizeof elements);
    if (elements != 3 * tile_elements) continue;
    auto forged = saved;
    forged[i + 1] ^= std::byte{1};  // the cover, the number of elements, or that of a node
    EXPECT_THROW(static_cast<void>(load_bins(ElementType::f4, by_scott, forged).result()), Error);
  }
  constexpr double one = 1;  // the lowest and the highest value
  const auto bytes_of_one = std::as_bytes(std::span(&one, 1));
  const auto lowest = std::ranges::search(saved, bytes_of_one).begin() - begin;
  for (const double other : {nan, infinity, 2.0}) {
    auto forged = saved;
    std::memcpy(forged.data() + lowest, &other, sizeof other);
    refused(ErrorKind::bad_input, by_scott, std::move(forged));
  }
  refused(ErrorKind::bad_input, by_scott, {begin, saved.end() - 1});
  const auto half = collect_bins(coordinator, shard(source, 0, 2), by_scott).value.save();
  EXPECT_THROW(static_cast<void>(load_bins(ElementType::f4, by_scott, half).result()), Error);
}

}  // namespace
}  // namespace ooc::detail
