#pragma once

#include <span>
#include <string>
#include <vector>

namespace ooc_run {

/// Returns labels for the edges of bins, which are in ascending order. If all edges are integers
/// below 1e15, the labels are exact ("1048576"). Otherwise they have at most six significant digits
/// ("-4.45508"), or more if different neighbours would have the same label.
std::vector<std::string> edge_labels(std::span<const double> edges);

}  // namespace ooc_run
