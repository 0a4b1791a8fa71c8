#pragma once

#include <ooc/device.hpp>
#include <string_view>
#include <vector>

namespace ooc_run {

/// A device of a run.
struct DeviceName {
  ooc::DeviceKind kind = ooc::DeviceKind::cpu;
  int ordinal = 0;  // of the GPU
  bool operator==(const DeviceName&) const = default;
};

/// Returns the devices that a value of --device names: "cpu", "cuda", "cuda:1", "cuda:0,1",
/// "cuda:all" or "all", which is all GPUs and the CPU. None for "auto". Throws Error(usage).
std::vector<DeviceName> parse_devices(std::string_view text);

}  // namespace ooc_run
