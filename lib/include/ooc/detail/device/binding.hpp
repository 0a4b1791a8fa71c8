#pragma once

#include <ooc/device.hpp>

namespace ooc::detail {

/// Binds a thread to a device for as long as it lives. Then CUDA uses the GPU there that it used
/// before. It is to die on the thread that has made it.
class DeviceBinding {
 public:
  /// Throws Error(device).
  explicit DeviceBinding(Device& device) : device_(device), before_(device.bind_for_now()) {}
  ~DeviceBinding() { device_.bind_back(before_); }
  DeviceBinding(const DeviceBinding&) = delete;
  DeviceBinding& operator=(const DeviceBinding&) = delete;

 private:
  Device& device_;
  void* before_;
};

}  // namespace ooc::detail
