#pragma once

#include <ooc/device.hpp>

namespace ooc::detail {

/// Binds the calling thread to a device during its lifetime, and then restores the GPU that the
/// thread used before. Must be destroyed on the thread that created it.
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
