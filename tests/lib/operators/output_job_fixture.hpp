#pragma once

#include <ooc/error.hpp>
#include <ooc/filter.hpp>
#include <ooc/map.hpp>
#include <ooc/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/operators/resident_fixture.hpp"

namespace ooc::detail::test {

using Act = std::function<void()>;

inline constexpr std::size_t values_of_a_step = 65536;  // the partition of maps and filters

struct Halve {
  using Input = float;
  using Output = double;
  static constexpr std::string_view partial_name = "test.halve/1";
  Act at_step = [] {};
  double factor = 0.5;

  std::string question() const { return std::to_string(factor); }
  void transform(Stream& stream, DeviceChunk<const float> in, DeviceChunk<double> out) const {
    at_step();
    EXPECT_EQ(out.first, in.first);
    std::vector<double> made;
    for (const float value : on_host<const float>(stream, in)) made.push_back(value * factor);
    to_device(stream, out.data, std::span<const double>(made));
  }
};

/// Two outputs and a count of the values above a bound.
struct Divided {
  using Input = float;
  using Output = std::tuple<std::uint8_t, float>;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = "test.divided/1";
  Act at_step = [] {};
  std::uint64_t most = ~std::uint64_t{0};

  void transform(Stream& stream, DeviceChunk<const float> in, DeviceChunk<std::uint8_t> above,
                 DeviceChunk<float> squares, std::uint64_t& count) const {
    at_step();
    std::vector<std::uint8_t> flags;
    std::vector<float> products;
    for (const float value : on_host<const float>(stream, in)) {
      flags.push_back(value > 0.5f ? 1 : 0);
      products.push_back(value * value);
      count += flags.back();
    }
    to_device(stream, above.data, std::span<const std::uint8_t>(flags));
    to_device(stream, squares.data, std::span<const float>(products));
  }
  void merge(std::uint64_t& total, const std::uint64_t& part) const { total += part; }
  void check(const std::uint64_t& total) const {
    if (total > most) throw Error(ErrorKind::bad_input, "too many");
  }
};

struct KeepAbove {
  using Input = float;
  using Output = float;
  static constexpr std::string_view partial_name = "test.keep/1";
  Act at_step = [] {};
  float bound = 0.01f;
  std::uint64_t first = 0;  // that it keeps

  void select(Stream& stream, DeviceChunk<const float> in, DeviceSpan<float> out,
              std::uint64_t* kept) const {
    at_step();
    std::vector<float> values = on_host<const float>(stream, in);
    std::erase_if(values, [this](float value) { return value <= bound; });
    if (in.first < first) values.clear();
    to_device(stream, out.data, std::span<const float>(values));
    to_device(stream, kept, std::uint64_t{values.size()});
  }
};

/// A running sum whose bits show the order of additions.
struct RunningSum {
  using Input = float;
  using Output = float;
  using Carry = float;
  static constexpr std::size_t partition_records = values_of_a_step;
  static constexpr std::string_view partial_name = "test.running/1";
  Act at_step = [] {};

  void begin(Stream& stream, DeviceChunk<const float> in, DeviceSpan<float> out, float* own) const {
    at_step();
    std::vector<float> sums = on_host<const float>(stream, in);
    for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
    to_device(stream, out.data, std::span<const float>(sums));
    to_device(stream, own, sums.back());
  }
  void join(Stream& stream, const float* before, const float* own, float* after) const {
    to_device(stream, after, value_of(stream, before) + value_of(stream, own));
  }
  void finish(Stream& stream, DeviceSpan<float> out, const float* before) const {
    std::vector<float> sums = on_host(stream, out);
    const float carry = value_of(stream, before);
    for (float& sum : sums) sum += carry;
    to_device(stream, out.data, std::span<const float>(sums));
  }
  static float value_of(Stream& stream, const float* place) {
    return on_host(stream, DeviceSpan<const float>{place, 1}).front();
  }
};

class OutputJobTest : public ResidentFixture {
 protected:
  static constexpr std::size_t steps_ = 21;
  static constexpr std::size_t count_ = (steps_ - 1) * values_of_a_step + 77;

  void SetUp() override {
    ResidentFixture::SetUp();
    std::filesystem::create_directory(made_);
    std::filesystem::create_directory(whole_);
  }

  static std::vector<float> many_values() {
    std::vector<float> values(count_);
    for (std::size_t i = 0; i < count_; ++i) values[i] = 1.0f / static_cast<float>(i % 1000 + 1);
    return values;
  }

  Coordinator machine(std::size_t steps_of_a_chunk = 1) {
    return coordinator({.chunk_bytes = steps_of_a_chunk * values_of_a_step * sizeof(float)});
  }

  PassOptions after_each() const { return {.checkpoint = {.file = path_, .every_seconds = 0}}; }

  /// Returns a function that counts its calls and calls `act` at the one of that number, from 1.
  Act acting(std::size_t number, Act act) {
    seen_ = 0;
    return [this, number, act = std::move(act)] {
      if (++seen_ == number) act();
    };
  }
  Act failing(std::size_t number) {
    return acting(number, [] { throw std::runtime_error("broken"); });
  }

  static std::vector<std::string> names_in(const std::filesystem::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  Target target_in(const std::filesystem::path& directory, const std::string& name,
                   ElementType type) const {
    return {.path = directory / name, .type = DType{type, true}};
  }

  /// Runs a job that fails again and again, and checks that it makes what it makes in one run.
  /// `run(machine, directory, at_step, wanted)` writes into the directory and returns what it
  /// found.
  template <class Run>
  void expect_goes_on(const Run& run) {
    Coordinator coordinator = machine();
    const auto expected = run(
        coordinator, whole_, [] {}, PassOptions{});
    const std::vector<std::string> names = names_in(whole_);
    std::size_t runs = 0, seen = 0;
    for (;;) {
      ASSERT_LT(++runs, steps_);
      Coordinator other = machine(runs % 3 + 1);
      try {
        EXPECT_EQ(run(other, made_, failing(2 + runs % 4), after_each()), expected);
        break;
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "broken");
      }
      seen += seen_ - 1;
      for (const std::string& name : names_in(made_)) EXPECT_TRUE(name.ends_with(".ooc-part"));
      EXPECT_EQ(names_in(made_).size(), names.size());
    }
    EXPECT_GT(runs, 3u);
    EXPECT_EQ(names_in(made_), names);
    for (const std::string& name : names) {
      EXPECT_TRUE(read_whole(made_ / name) == read_whole(whole_ / name)) << name;
    }
    EXPECT_GE(seen + seen_, steps_);
    // The job is complete.
    EXPECT_EQ(run(coordinator, made_, failing(1), after_each()), expected);
    EXPECT_EQ(names_in(made_), names);
  }

  /// Leaves the file of a map that has failed at a step, and its output.
  void leave_file(std::size_t failing_step = 8) {
    Coordinator coordinator = machine();
    EXPECT_THROW(map(coordinator, Halve{failing(failing_step)}, data_, halves(), after_each()),
                 std::runtime_error);
    EXPECT_TRUE(std::filesystem::exists(path_));
    ASSERT_EQ(names_in(made_).size(), 1u);
    kept_ = made_ / names_in(made_).front();
  }

  Target halves() const { return target_in(made_, "halves.npy", ElementType::f8); }

  ValuesFile many_;
  Source data_ = many_.source_of(many_values());
  std::filesystem::path path_ = dir_.path() / "job.part";
  std::filesystem::path made_ = dir_.path() / "made", whole_ = dir_.path() / "whole";
  std::filesystem::path kept_;
  std::atomic<std::size_t> seen_{0};
};

}  // namespace ooc::detail::test
