#pragma once

#include <span>
#include <string>
#include <vector>

namespace ooc_run {

/// Labels for the edges of bins, in ascending order. If all are whole numbers below 1e15, in full
/// ("1048576"); else with at most six significant digits ("-4.45508"), or with as many more as make
/// different neighbours look different.
std::vector<std::string> edge_labels(std::span<const double> edges);

}  // namespace ooc_run
