#pragma once

#include <ooc/histogram.hpp>
#include <optional>
#include <string_view>

#include "cli/arguments.hpp"

namespace ooc_run {

/// The columns of a table of bins beside their edges and counts.
struct BinTable {
  bool density = false;     // count / (all counts * width)
  bool cumulative = false;  // sum of the counts so far
};

/// Parses the ends of bins: "LO:HI", both finite. Throws Error(usage).
ooc::HistogramOptions::Range parse_range(std::string_view text);

/// Reads the options that define bins. `number`: the option for their number, "bins" or, for the
/// command reduce, "histogram". Throws Error(usage).
ooc::HistogramOptions read_bins(const Arguments& arguments, std::string_view number);

/// Reads --tsv and the options of its columns. Empty without it.
std::optional<BinTable> read_table(const Arguments& arguments);

}  // namespace ooc_run
