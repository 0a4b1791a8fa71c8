#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>
#include <ooc/source.hpp>
#include <ooc/stats.hpp>
#include <ooc/target.hpp>

#include <cstdint>

// Shared by operators that write a value of one type for each record.

namespace ooc::detail {

/// Throws Error(bad_input) for structs, and for data that are stored column by column.
void require_numbers_in_order(const Source& source);

/// Returns the target with the type `made` (bool if the source's u1 are) and, unless it has one,
/// the shape of `count` values in one dimension, if they are those of a source whose length is
/// known. Throws Error(usage) if it is to hold another type.
Target target_of_values(const Target& target, ElementType made, const Source& source,
                        std::uint64_t count);

/// Returns the plan of a pass that writes `count` values to such a target.
Stats dry_run_values(const Options& machine, DeviceKind device, const PassInput& input,
                     const Target& target, std::uint64_t count, const PassOptions& wanted,
                     const Operation* operation = nullptr);

}  // namespace ooc::detail
