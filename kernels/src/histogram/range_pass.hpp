#pragma once

#include "histogram/count.hpp"

#include <memory>
#include <optional>

// What a histogram needs besides counting: the bins, for which the data may have to be read once
// more, and checks of what was counted in them.

namespace ooc::binning {

/// The bins, if they are known without a look at the data. Throws Error(usage).
std::optional<Bins> known_bins(ElementType type, const HistogramOptions& options);

/// The histogram of no elements: zeros in bins whose range or edges are given; else it has no bins.
Histogram empty_histogram(ElementType type, const HistogramOptions& options);

/// The bins to count in, and what the data looked like if they had to be found.
struct FoundBins {
  std::shared_ptr<const Bins> bins;  // null if the pass for them was stopped
  std::optional<Result<Extremes>> pass;
};

/// Reads the source for its range, unless that is known. Throws Error as histogram() does.
FoundBins find_bins(Coordinator& coordinator, const Source& source, const HistogramOptions& options,
                    const PassOptions& wanted);

/// What both passes took together. Throws Error(internal) unless all elements were counted once,
/// and Error(input_changed) if counting saw what the pass before it did not.
Stats check_passes(const Source& source, const FoundBins& found, const Histogram& histogram,
                   Stats counting);

}  // namespace ooc::binning
