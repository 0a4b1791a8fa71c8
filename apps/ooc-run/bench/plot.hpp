#pragma once

#include <string>

#include "bench/run.hpp"

namespace ooc_run {

/// The sweep as a picture: a panel for each of chunk, bytes in flight and size of the file, cold
/// above warm, with the ceiling as a dashed line. An SVG document.
std::string plot_sweep(const BenchResult& result, const std::string& title);

}  // namespace ooc_run
