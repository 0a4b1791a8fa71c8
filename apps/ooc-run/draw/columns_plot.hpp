#pragma once

#include <ooc/reduce.hpp>
#include <span>
#include <string>

namespace ooc_run {

/// Draws an SVG document with a strip for each column, up to the hundredth: from its minimum to its
/// maximum, with the mean and a standard deviation on both sides of it. Each strip has a scale of
/// its own. The output is deterministic.
std::string plot_columns(std::span<const ooc::Statistics> columns, const std::string& title);

}  // namespace ooc_run
