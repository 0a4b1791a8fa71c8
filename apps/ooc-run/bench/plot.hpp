#pragma once

#include <string>

#include "bench/run.hpp"

namespace ooc_run {

/// Draws the sweep as an SVG document of small charts: one column for the chunk size, one for the
/// bytes in flight and one for the file size; cold passes above, warm ones below. The ceiling is a
/// dashed line.
std::string plot_sweep(const BenchResult& result, const std::string& title);

}  // namespace ooc_run
