#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sizing/layout.hpp"

namespace ooc::detail {

// Shared by dry_run_pass() and the coordinator, so that they report the same.

/// Returns the options with each number in the range that a pass can keep to.
Options bounded(Options options);

/// Measures the facts about a pass. `device_starts`: see Facts. Throws Error(bad_input) if an input
/// is not whole records, or if the inputs have different numbers of them.
Facts measure_facts(const DeviceFacts& device, bool device_starts,
                    std::span<const PassInput> inputs, std::span<const Output> outputs);

/// Returns the size of a source's elements if their bytes are swapped, else 0.
std::size_t swapped_bytes_of(const Source& source);

/// Returns the sizes of the structs that inputs are decoded to, or 0 for those that are not.
std::vector<std::size_t> decoded_bytes_of(std::span<const PassInput> inputs);

/// Returns the requirements of an operation on its steps. `operation`: null if there is none.
StepNeeds needs_of(std::span<const PassInput> inputs, const Operation* operation,
                   const PassOptions& wanted);

/// Returns the statistics that a layout determines.
Stats describe_layout(const Facts& facts, const Layout& layout);

/// Adds what reads: `engine`, or the lanes themselves if it is null.
void describe_readers(const Engine* engine, const IoConfig& config, Stats& stats);

/// Adds the notes of an engine.
void describe_notes(const Engine& engine, Stats& stats);

}  // namespace ooc::detail
