#pragma once

#include <string>

#include "bench/run.hpp"

namespace ooc_run {

/// Draws the sweep as an SVG document: a panel each for chunk, bytes in flight and size of the
/// file, cold above warm, with the ceiling as a dashed line.
std::string plot_sweep(const BenchResult& result, const std::string& title);

}  // namespace ooc_run
