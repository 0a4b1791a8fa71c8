#pragma once

#include <ooc/detail/kernels/histogram.hpp>
#include <string_view>

#include "cli/arguments.hpp"

namespace ooc_run {

/// Reads the options that describe bins. `number` is the option that gives their number: "bins", or
/// "histogram" for the command reduce. Throws Error(usage).
ooc::HistogramOptions read_bins(const Arguments& arguments, std::string_view number);

}  // namespace ooc_run
