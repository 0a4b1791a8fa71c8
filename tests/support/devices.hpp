#pragma once

#include <ooc/device.hpp>

#include <gtest/gtest.h>

#include <string>

namespace ooc::detail::test {

/// The devices of a parameterised test. Begin it with OOC_SKIP_WITHOUT(GetParam()), which skips it
/// where there is no GPU and prints the driver's reason.
inline const auto all_devices = testing::Values(DeviceKind::cpu, DeviceKind::cuda);

/// Names the instances of such a test.
inline std::string device_name(const testing::TestParamInfo<DeviceKind>& device) {
  return device.param == DeviceKind::cpu ? "cpu" : "cuda";
}

}  // namespace ooc::detail::test

#define OOC_SKIP_WITHOUT(kind)                                         \
  if ((kind) == ooc::DeviceKind::cuda && !ooc::why_no_gpu().empty()) { \
    GTEST_SKIP() << "no GPU: " << ooc::why_no_gpu();                   \
  }                                                                    \
  static_assert(true)
