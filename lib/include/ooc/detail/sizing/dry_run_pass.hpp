#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/device.hpp>
#include <ooc/source.hpp>
#include <ooc/stats.hpp>

#include <span>

namespace ooc::detail {

/// Predicts the Stats of a pass: how it reads and writes, its sizes, and the reasons for
/// choices. They are those of `operation` or, if that is null, of one with partitions of 65,536
/// records, no margin and `memory` on the host, as most of the built-in ones have. Times are not
/// set. `LayoutStats::device_bytes` counts the buffers of the streams, without what operators
/// allocate. Reads and writes no data and starts no device; the files of `outputs` may be
/// opened with Purpose::dry_run. Throws the Error that run_pass() would throw for these
/// options.
Stats dry_run_pass(const Options& options, DeviceKind device, std::span<const PassInput> inputs,
                   std::span<const Output> outputs = {}, const PassOptions& wanted = {},
                   HostBytes memory = {}, const Operation* operation = nullptr);

/// The same for one input.
inline Stats dry_run_pass(const Options& options, DeviceKind device, const PassInput& input,
                          std::span<const Output> outputs = {}, const PassOptions& wanted = {},
                          HostBytes memory = {}, const Operation* operation = nullptr) {
  return dry_run_pass(options, device, {&input, 1}, outputs, wanted, memory, operation);
}

}  // namespace ooc::detail
