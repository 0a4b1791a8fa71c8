#pragma once

#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "lib/operators/resident_fixture.hpp"
#include "lib/parts/savable_operators.hpp"

namespace ooc::detail::test {

/// The number of values that are above a bound.
struct CountAbove {
  using Input = float;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::size_t partition_records = 2 * partition;
  static constexpr std::string_view partial_name = "test.above/1";
  float bound;

  std::string question() const { return "above " + std::to_string(bound); }
  void consume(Stream& stream, DeviceChunk<const float> in, std::uint64_t& count) const {
    for (const float value : test::on_host<const float>(stream, in)) count += value > bound;
  }
  void merge(std::uint64_t& total, const std::uint64_t& part) const { total += part; }
};

class CheckpointTest : public test::ResidentFixture {
 protected:
  static constexpr std::size_t partitions_ = 51;

  /// Options with a checkpoint after each partition.
  PassOptions after_each() const { return {.checkpoint = {.file = path_, .every_seconds = 0}}; }

  /// A sum that calls `call` at a partition of that number, counted from 1, and counts all.
  NamedSum sum_with(std::size_t number, std::function<void()> call) {
    seen_ = 0;
    NamedSum sum;
    sum.at_partition = [this, number, call = std::move(call)] {
      if (++seen_ == number) call();
    };
    return sum;
  }
  NamedSum counted_sum() {
    return sum_with(0, [] {});
  }

  /// Runs a fold that stops within a section, and leaves a file.
  void leave_file() {
    Coordinator machine = coordinator();
    EXPECT_THROW(fold(machine, sum_with(20, [] { throw std::runtime_error("broken"); }), source_,
                      after_each()),
                 std::runtime_error);
    EXPECT_TRUE(std::filesystem::exists(path_));
  }

  float expected() {
    Coordinator machine = coordinator();
    return fold(machine, NamedSum{}, source_).value;
  }

  std::filesystem::path path_ = dir_.path() / "sum.part";
  std::atomic<std::size_t> seen_{0};
};

}  // namespace ooc::detail::test
