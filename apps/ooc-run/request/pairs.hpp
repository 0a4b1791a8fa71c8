#pragma once

#include <cstdint>
#include <ooc/histogram.hpp>
#include <optional>
#include <string>

#include "cli/arguments.hpp"

namespace ooc_run {

/// The numbers of an axis of hist2d, and their bins.
struct AxisSettings {
  std::string column{};  // or a field; empty: not named
  ooc::HistogramOptions bins{.bins = 64};
};

/// The pairs of hist2d.
struct PairSettings {
  AxisSettings x{}, y{};
  std::optional<std::uint64_t> columns{};  // of a row; empty: those of the shape of the data
};

/// Reads the options about pairs and their bins. Throws Error(usage).
PairSettings read_pairs(const Arguments& arguments);

}  // namespace ooc_run
