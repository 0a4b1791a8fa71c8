#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/io/engine.hpp>
#include <ooc/stats.hpp>

#include <cstddef>

#include "sizing/layout.hpp"

namespace ooc {

// What dry_run_pass() and the coordinator have in common, so that they say the same.

/// Options of which each term is one that a pass can keep to.
Options bounded(Options options);

/// What a layout says of a pass.
Stats describe_layout(const Layout& layout);

/// Adds who reads: `engine`, or the lanes themselves if it is null.
void describe_readers(const Engine* engine, const IoConfig& config, Stats& stats);

/// Adds what who writes has to say.
void describe_writer(const Engine& engine, Stats& stats);

}  // namespace ooc
