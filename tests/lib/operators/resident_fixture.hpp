#pragma once

#include <ooc/resident.hpp>

#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/target.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/temp_dir.hpp"
#include "support/values_file.hpp"
#include "support/wrapped_engine.hpp"

namespace ooc::detail::test {

inline constexpr std::size_t partition = 4096;  // elements

/// Adds up values on the host in float, so that the bits of the sum show the order.
struct RoundedSum {
  using Input = float;
  using Partial = float;
  static constexpr std::size_t partition_records = partition;
  std::function<void()> at_partition = [] {};

  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    at_partition();
    for (const float value : on_host<const float>(stream, in)) sum += value;
  }
  void merge(float& total, const float& part) const { total += part; }
};

/// A RoundedSum whose parts can be saved.
struct SavedSum : RoundedSum {
  static constexpr std::string_view partial_name = "test.rounded_sum/1";
};

/// The sum of products of two arrays.
struct SumOfProducts {
  using Input = std::tuple<float, float>;
  using Partial = double;
  static constexpr std::size_t partition_records = partition;
  void consume(Stream& stream, DeviceSpan<const float> a, DeviceSpan<const float> b,
               double& sum) const {
    const auto left = on_host(stream, a), right = on_host(stream, b);
    for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  }
  void merge(double& total, const double& part) const { total += part; }
};

struct Doubled {
  using Input = float;
  using Output = float;
  void transform(Stream& stream, DeviceSpan<const float> in, DeviceSpan<float> out) const {
    auto values = on_host<const float>(stream, in);
    for (float& value : values) value *= 2;
    to_device(stream, out.data, std::span<const float>(values));
  }
};

/// Counts the bytes that are read.
class CountingEngine final : public WrappedEngine {
 public:
  CountingEngine(std::unique_ptr<Engine> engine, std::atomic<std::uint64_t>& bytes)
      : WrappedEngine(std::move(engine)), bytes_(bytes) {}
  void start(Request& request) override {
    bytes_ += request.bytes;
    WrappedEngine::start(request);
  }

 private:
  std::atomic<std::uint64_t>& bytes_;
};

/// A source of float values, on each machine.
class ResidentFixture : public testing::TestWithParam<Machine> {
 protected:
  static constexpr std::size_t count_ = 50 * partition + 77;
  static constexpr std::uint64_t bytes_ = count_ * sizeof(float);
  static constexpr std::uint64_t all_ = std::uint64_t{1} << 30;

  void SetUp() override { OOC_SKIP_WITHOUT_MACHINE(GetParam()); }

  static std::vector<float> values() {
    std::vector<float> values(count_);
    for (std::size_t i = 0; i < count_; ++i) values[i] = 1.0f / static_cast<float>(i % 1000 + 1);
    return values;
  }

  Coordinator coordinator(Options options = {.chunk_bytes = 4 * partition * sizeof(float)}) {
    options.make_engine = [this](const EngineOptions& wanted) -> std::unique_ptr<Engine> {
      auto engine = make_engine(wanted);
      if (wanted.writes) return engine;
      return std::make_unique<CountingEngine>(std::move(engine), read_);
    };
    return Coordinator(make_device(GetParam()), options);
  }

  /// Returns the number of bytes that were read since the last call.
  std::uint64_t bytes_read() { return read_.exchange(0); }

  std::string made(const std::string& name) const { return read_whole(dir_.path() / name); }
  Target target(const std::string& name) const {
    return {.path = dir_.path() / name, .type = {ElementType::f4}, .replace = true};
  }

  ValuesFile file_;
  TempDir dir_;
  Source source_ = file_.source_of(values());
  std::atomic<std::uint64_t> read_{0};
};

}  // namespace ooc::detail::test
