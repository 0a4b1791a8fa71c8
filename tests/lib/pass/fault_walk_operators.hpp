#pragma once

#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::test {

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

/// Host memory for copies, which may end after the call of the operator that began them has thrown.
class HostMemory {
 public:
  std::span<std::byte> take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    return blocks_.emplace_back(bytes);
  }

  template <class T>
  T get(Stream& stream, const T* place) {
    const auto memory = take(sizeof(T));
    stream.copy(memory.data(), place, sizeof(T));
    stream.synchronize();
    return *reinterpret_cast<const T*>(memory.data());
  }

  template <class T>
  void set(Stream& stream, T* place, const T& value) {
    const auto memory = take(sizeof(T));
    std::memcpy(memory.data(), &value, sizeof(T));
    stream.copy(place, memory.data(), sizeof(T));
  }

 private:
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> blocks_;
};

/// A filter that keeps all bytes.
struct KeepAll {
  using Input = std::uint8_t;
  using Output = std::uint8_t;
  HostMemory& home;

  void select(Stream& stream, DeviceChunk<const std::uint8_t> in, DeviceSpan<std::uint8_t> out,
              std::uint64_t* kept) const {
    stream.copy(out.data, in.data, in.size);
    home.set(stream, kept, std::uint64_t{in.size});
  }
};

/// A split that gives all bytes to the first output.
struct ToTheFirst {
  using Input = std::uint8_t;

  void assign(Stream& stream, DeviceChunk<const std::uint8_t> /*in*/,
              DeviceSpan<std::uint16_t> outputs) const {
    stream.fill_zero(outputs.data, outputs.size * sizeof(std::uint16_t));
  }
};

/// A scan that copies bytes, and passes on how many there were.
struct CountingScan {
  using Input = std::uint8_t;
  using Output = std::uint8_t;
  using Carry = std::uint64_t;
  static constexpr std::size_t partition_records = chunk_bytes / 4;
  HostMemory& home;

  void begin(Stream& stream, DeviceChunk<const std::uint8_t> in, DeviceSpan<std::uint8_t> out,
             Carry* own) const {
    stream.copy(out.data, in.data, in.size);
    home.set(stream, own, Carry{in.size});
  }
  void join(Stream& stream, const Carry* before, const Carry* own, Carry* after) const {
    home.set(stream, after, home.get(stream, before) + home.get(stream, own));
  }
  void finish(Stream& stream, DeviceChunk<std::uint8_t> out, const Carry* before) const {
    EXPECT_EQ(home.get(stream, before), out.first);
  }
};

/// Writes bytes to a file and, twice each, to another.
struct Repeat {
  using Output = std::tuple<std::uint8_t, std::uint16_t>;
  std::span<const std::byte> bytes;
  HostMemory& home;

  void produce(Stream& stream, DeviceChunk<std::uint8_t> out,
               DeviceChunk<std::uint16_t> twice) const {
    stream.copy(out.data, bytes.data() + out.first, out.size);
    const std::span<std::byte> pairs = home.take(2 * twice.size);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = bytes[out.first + i / 2];
    stream.copy(twice.data, pairs.data(), pairs.size());
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
               const StepResults&) override {
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

}  // namespace ooc::detail::test
