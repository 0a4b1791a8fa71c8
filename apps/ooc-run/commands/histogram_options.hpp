#pragma once

#include <ooc/kernels/histogram.hpp>
#include <string_view>

#include "cli/arguments.hpp"

namespace ooc_run {

/// The bins that a command is to count in; `number` is its option for how many. Throws
/// Error(usage).
ooc::HistogramOptions read_histogram_options(const Arguments& arguments, std::string_view number);

}  // namespace ooc_run
