#pragma once

#include <ooc/error.hpp>

#include <atomic>
#include <memory>
#include <utility>

#include "support/fault.hpp"
#include "support/wrapped_device.hpp"

namespace ooc::detail::test {

/// The kinds of failures: host or device memory is exhausted, a call is refused, or accepted work
/// fails late, which the next wait of any kind reports.
enum class DeviceFault { host_memory, device_memory, call, late };

/// Returns a device that fails when `fault` strikes. If work fails late and `fault` strikes from
/// then on, every later call fails, as after a kernel with an invalid access.
inline std::unique_ptr<Device> faulty_device(std::unique_ptr<Device> device, DeviceFault what,
                                             Fault& fault) {
  const auto is_of_host = [](DeviceCall call) {
    return call == DeviceCall::host_memory || call == DeviceCall::lock;
  };
  const auto is_of_device = [](DeviceCall call) { return call == DeviceCall::device_memory; };
  const auto exhaust = [&fault](auto is_meant) {
    return [&fault, is_meant](DeviceCall call) {
      if (is_meant(call) && fault.strikes()) throw Error(ErrorKind::memory, "no memory is left");
    };
  };
  const auto refuse = [&fault, is_of_host, is_of_device](DeviceCall call) {
    const bool is_memory = is_of_host(call) || is_of_device(call);
    if (!is_memory && fault.strikes()) throw Error(ErrorKind::device, "the device's own error");
  };
  const auto fail_late = [&fault,
                          broken = std::make_shared<std::atomic<bool>>(false)](DeviceCall call) {
    const bool sticky = fault.mode() == Fault::Mode::from_then_on;
    if ((sticky || call == DeviceCall::wait) && *broken) {
      *broken = sticky;
      throw Error(ErrorKind::device, "the error of a kernel before");
    }
    if (call == DeviceCall::work && fault.strikes()) *broken = true;
  };
  BeforeCall before;
  switch (what) {
    case DeviceFault::host_memory: before = exhaust(is_of_host); break;
    case DeviceFault::device_memory: before = exhaust(is_of_device); break;
    case DeviceFault::call: before = refuse; break;
    case DeviceFault::late: before = fail_late; break;
  }
  return std::make_unique<WrappedDevice>(std::move(device), std::move(before));
}

}  // namespace ooc::detail::test
