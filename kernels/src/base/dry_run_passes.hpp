#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/source.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <span>

namespace ooc::detail {

/// Returns the plan of a job of so many equal passes (see Passes): that of one pass, with the
/// number of passes and the data that stay on a GPU between them. `memory`: host memory of a pass.
Stats dry_run_passes(const Options& machine, DeviceKind device, std::span<const PassInput> inputs,
                     const PassOptions& wanted, std::size_t passes, HostBytes memory);

/// The same for the elements of one source.
Stats dry_run_passes(const Options& machine, DeviceKind device, const Source& source,
                     const PassOptions& wanted, std::size_t passes, HostBytes memory);

}  // namespace ooc::detail
