#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/io/engine.hpp>
#include <ooc/stats.hpp>

#include <cstddef>

#include "sizing/layout.hpp"

namespace ooc {

// Shared by dry_run_pass() and the coordinator, so that they report the same.

/// Returns the options with each number in the range that a pass can keep to.
Options bounded(Options options);

/// Measures the facts about a pass. `device_starts`: see Facts.
Facts measure_facts(const DeviceFacts& device, bool device_starts, const Source& source,
                    const Output* output);

/// Returns the statistics that a layout determines.
Stats describe_layout(const Facts& facts, const Layout& layout);

/// Adds what reads: `engine`, or the lanes themselves if it is null.
void describe_readers(const Engine* engine, const IoConfig& config, Stats& stats);

/// Adds the notes of an engine.
void describe_notes(const Engine& engine, Stats& stats);

}  // namespace ooc
