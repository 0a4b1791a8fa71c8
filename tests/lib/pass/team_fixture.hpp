#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/fold.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "lib/parts/savable_operators.hpp"
#include "support/late_device.hpp"
#include "support/values_file.hpp"
#include "support/wrapped_device.hpp"

namespace ooc::detail::test {

/// A sum whose bits show the order of additions, and are the same on all devices.
struct SharedSum : NamedSum {
  static constexpr bool same_bits_everywhere = true;
};

/// A device that works like a GPU, and that a test lets start.
class StartingDevice final : public LateDevice {
 public:
  bool is_starting() const override { return !*may_start_; }
  void bind_to_thread() override {
    while (is_starting()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    LateDevice::bind_to_thread();
  }
  /// Outlives the device.
  std::shared_ptr<std::atomic<bool>> start() const { return may_start_; }

 private:
  std::shared_ptr<std::atomic<bool>> may_start_ = std::make_shared<std::atomic<bool>>(false);
};

/// A device that calls `at_step` after each step of a pass.
inline std::unique_ptr<Device> watched(std::unique_ptr<Device> device,
                                       std::function<void()> at_step) {
  return std::make_unique<WrappedDevice>(std::move(device),
                                         [at_step = std::move(at_step)](DeviceCall call) {
                                           if (call == DeviceCall::launch) at_step();
                                         });
}

/// A device that takes so long for each step.
inline std::unique_ptr<Device> slowed(std::unique_ptr<Device> device,
                                      std::chrono::microseconds pause) {
  return watched(std::move(device), [pause] { std::this_thread::sleep_for(pause); });
}

/// Devices that wait for one another with their first steps, so that each takes part in a pass.
class Meeting {
 public:
  /// Adds a device, before the pass. It then takes so long for each step.
  std::unique_ptr<Device> of(std::unique_ptr<Device> device, std::chrono::microseconds pause = {}) {
    ++state_->devices;
    const auto has_arrived = std::make_shared<std::atomic<bool>>(false);
    return std::make_unique<WrappedDevice>(
        std::move(device), [state = state_, pause, has_arrived](DeviceCall call) {
          if (call == DeviceCall::launch) std::this_thread::sleep_for(pause);
          if (call != DeviceCall::work) return;  // of a step that it has taken
          if (!has_arrived->exchange(true)) ++state->arrived;
          while (state->arrived < state->devices) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
          }
        });
  }

 private:
  struct State {
    int devices = 0;
    std::atomic<int> arrived{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

template <class... Each>
std::vector<std::unique_ptr<Device>> devices(std::unique_ptr<Each>... each) {
  std::vector<std::unique_ptr<Device>> all;
  (all.push_back(std::move(each)), ...);
  return all;
}

inline std::unique_ptr<Device> cpu() {
  return ooc::make_device(DeviceKind::cpu);
}

/// A source of values, and passes over it by several devices.
class TeamTest : public testing::Test {
 protected:
  static constexpr std::size_t count_ = 400 * partition + 77;
  static constexpr std::uint64_t bytes_ = count_ * sizeof(float);
  // Two partitions.
  static constexpr std::size_t chunk_ = 2 * partition * sizeof(float);

  static std::vector<float> values() {
    std::vector<float> values(count_);
    for (std::size_t i = 0; i < count_; ++i) values[i] = 1.0f / static_cast<float>(i % 1000 + 1);
    return values;
  }

  static Coordinator team(std::vector<std::unique_ptr<Device>> devices, Options options = {}) {
    if (options.chunk_bytes == 0) options.chunk_bytes = chunk_;
    return Coordinator(std::move(devices), std::move(options));
  }

  /// Returns the result of one device.
  template <class Op>
  auto alone(const Op& op) {
    Coordinator one(cpu());
    return fold(one, op, source_).value;
  }

  ValuesFile file_;
  Source source_ = file_.source_of(values());
};

}  // namespace ooc::detail::test
