#pragma once

#include <ooc/fold.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/temp_dir.hpp"

namespace ooc::test {

inline constexpr std::size_t chunk_bytes = 65536;

/// A sum that depends on every byte and its index. Copies the bytes to the host first, since the
/// host must not read device memory.
struct WeightedSum {
  using Input = std::uint8_t;
  static constexpr std::size_t partition_records = chunk_bytes;
  struct Partial {
    std::vector<std::uint8_t> home;
    std::uint64_t sum = 0;
  };

  Partial make_partial(Stream&) const { return {.home = std::vector<std::uint8_t>(chunk_bytes)}; }
  void consume(Stream& stream, DeviceChunk<const std::uint8_t> in, Partial& partial) const {
    stream.copy(partial.home.data(), in.data, in.size);
    stream.synchronize();
    partial.sum += sum_of({partial.home.data(), in.size}, in.first);
  }
  void merge(Partial& total, const Partial& part) const { total.sum += part.sum; }

  static std::uint64_t sum_of(std::span<const std::uint8_t> bytes, std::uint64_t first) {
    std::uint64_t sum = 0;
    for (const std::uint8_t byte : bytes) sum += (byte + 1) * ++first;
    return sum;
  }
};

/// A WeightedSum with one partial for each stream.
struct WeightedSumOfStreams : WeightedSum {
  static constexpr Merge merge_order = Merge::unordered;
};

/// A WeightedSum whose partials are merged one after another.
struct WeightedSumInOrder : WeightedSum {
  static constexpr Merge merge_order = Merge::in_order;
};

/// A WeightedSum with partitions of several chunks. A GPU copies these in pieces.
struct WeightedSumOfPieces : WeightedSum {
  static constexpr std::size_t partition_records = 4 * chunk_bytes;
  Partial make_partial(Stream&) const {
    return {.home = std::vector<std::uint8_t>(partition_records)};
  }
};

/// Compares two inputs, with the records around those of each step, with the bytes of their file.
class CompareTwice final : public Operation {
 public:
  CompareTwice(std::span<const std::byte> bytes, std::size_t lanes)
      : bytes_(bytes), home_(lanes, std::vector<std::byte>(bytes.size())) {}

  std::size_t partition() const noexcept override { return chunk_bytes / 4; }
  Margin margin() const noexcept override { return {100, 5000}; }
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               DeviceSpan<std::byte>) override {
    const std::span host = std::span(home_[lane]).first(in.count_with_margin());
    const auto expected = bytes_.subspan(in.first - in.margin.before, host.size());
    for (const DeviceSpan<const std::byte> input : in.inputs) {
      stream.copy(host.data(), input.data, host.size());
      stream.synchronize();
      if (same_bytes(host, expected)) right_ += in.count;
    }
  }
  void end(std::size_t, Stream&) override {}

  bool is_right() const { return right_ == 2 * bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::vector<std::vector<std::byte>> home_;  // by lane: copies may end after process() has thrown
  std::atomic<std::uint64_t> right_{0};
};

}  // namespace ooc::test
