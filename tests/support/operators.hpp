#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/partials/partials.hpp>
#include <ooc/device.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

// Small operators and operations, so that a test knows the result of a pass.

namespace ooc::detail::test {

/// Elements of a partition of the operators here.
inline constexpr std::size_t partition_elements = 65536;

/// A chunk of one partition of bytes.
inline constexpr std::size_t chunk_bytes = partition_elements;

/// Called with the index of a chunk's first element, on the thread of its lane.
using AtChunk = std::function<void(std::uint64_t first)>;

/// Calls `action` at the chunk that begins with element `first`.
inline AtChunk at(std::uint64_t first, std::function<void()> action) {
  return [first, action = std::move(action)](std::uint64_t begin) {
    if (begin == first) action();
  };
}

/// Counts the elements and reads none of them.
template <class T = std::uint8_t>
struct Count {
  using Input = T;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;
  AtChunk at_chunk = [](std::uint64_t) {};

  void consume(Stream&, DeviceChunk<const T> in, Partial& count) const {
    at_chunk(in.first);
    count += in.size;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Adds up the bytes, after it has copied them to the host.
struct Sum {
  using Input = std::uint8_t;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;
  AtChunk at_chunk = [](std::uint64_t) {};

  void consume(Stream& stream, DeviceChunk<const Input> in, Partial& sum) const {
    at_chunk(in.first);
    std::vector<Input> host(in.size);
    stream.copy(host.data(), in.data, in.size);
    stream.synchronize();
    sum = std::accumulate(host.begin(), host.end(), sum);
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Maps each byte to itself.
struct Copy {
  using Input = std::uint8_t;
  using Output = std::uint8_t;
  AtChunk at_chunk = [](std::uint64_t) {};

  void transform(Stream& stream, DeviceChunk<const Input> in, DeviceSpan<Output> out) const {
    at_chunk(in.first);
    stream.copy(out.data, in.data, in.size);
  }
};

/// Maps each element to a zero.
template <class In, class Out>
struct Zero {
  using Input = In;
  using Output = Out;

  void transform(Stream& stream, DeviceChunk<const In>, DeviceSpan<Out> out) const {
    stream.fill_zero(out.data, out.size * sizeof(Out));
  }
};

/// Reads no data.
class Visit final : public Operation {
 public:
  explicit Visit(AtChunk at_chunk = [](std::uint64_t) {}) : at_chunk_(std::move(at_chunk)) {}
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t, Stream&, const StepRecords& in, const StepResults&) override {
    at_chunk_(in.first);
  }
  void end(std::size_t, Stream&) override {}

 private:
  AtChunk at_chunk_;
};

/// Copies each chunk of one input to its place in `data`. Needs a CPU device.
class Collect final : public Operation {
 public:
  explicit Collect(std::uint64_t bytes) : data(bytes) {}
  void begin(std::size_t, Stream&) override { ++begun; }
  void process(std::size_t, Stream&, const StepRecords& in, const StepResults&) override {
    const DeviceSpan<const std::byte> records = in.inputs.front();
    const std::uint64_t place = in.first * (records.size / in.count);
    std::ranges::copy(records, data.begin() + static_cast<std::ptrdiff_t>(place));
    seen += records.size;
  }
  void end(std::size_t, Stream&) override { ++ended; }

  std::vector<std::byte> data;
  std::atomic<std::uint64_t> seen{0};   // bytes
  std::atomic<int> begun{0}, ended{0};  // lanes
};

/// Expects each chunk to be equal to its place in `expected`, then calls `act` with its lane and
/// the index of its first byte. Needs a CPU device.
class Compare final : public Operation {
 public:
  using Act = std::function<void(std::size_t lane, std::uint64_t first)>;

  explicit Compare(
      std::span<const std::byte> expected, Act act = [](auto, auto) {})
      : expected_(expected), act_(std::move(act)) {}
  void begin(std::size_t, Stream&) override { ++lanes; }
  void process(std::size_t lane, Stream&, const StepRecords& in, const StepResults&) override {
    const DeviceSpan<const std::byte> data = in.inputs.front();
    EXPECT_TRUE(same_bytes({data.data, data.size}, expected_.subspan(in.first, data.size)))
        << in.first;
    bytes += data.size;
    act_(lane, in.first);
  }
  void end(std::size_t, Stream&) override {}

  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::size_t> lanes{0};

 private:
  std::span<const std::byte> expected_;
  Act act_;
};

}  // namespace ooc::detail::test
