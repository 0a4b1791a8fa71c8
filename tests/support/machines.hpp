#pragma once

#include <ooc/device.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/late_device.hpp"

namespace ooc::detail::test {

/// The device of a pass: the CPU, a LateDevice as a substitute for a GPU, or a real GPU.
enum class Machine { cpu, late, cuda };

/// The machines of a parameterised test. Begin it with OOC_SKIP_WITHOUT_MACHINE(GetParam()).
inline const auto all_machines = testing::Values(Machine::cpu, Machine::late, Machine::cuda);

/// Names the instances of such a test.
inline std::string machine_name(const testing::TestParamInfo<Machine>& machine) {
  return machine.param == Machine::cpu ? "cpu" : machine.param == Machine::late ? "late" : "cuda";
}

inline std::unique_ptr<Device> make_device(Machine machine) {
  if (machine == Machine::late) return std::make_unique<LateDevice>();
  return ooc::make_device(machine == Machine::cpu ? DeviceKind::cpu : DeviceKind::cuda);
}

}  // namespace ooc::detail::test

#define OOC_SKIP_WITHOUT_MACHINE(machine)                                            \
  if ((machine) == ooc::detail::test::Machine::cuda && !ooc::why_no_gpu().empty()) { \
    GTEST_SKIP() << "no GPU: " << ooc::why_no_gpu();                                 \
  }                                                                                  \
  static_assert(true)
