#pragma once

#include <ooc/kernels/histogram.hpp>
#include <ooc/kernels/reduce.hpp>

namespace ooc {

struct Summary {
  Statistics statistics;
  Histogram histogram;
};

struct SummaryOptions {
  ReduceOptions reduce{};
  HistogramOptions histogram{};
};

/// What reduce() and histogram() find, from one read: both in the pass that counts. A pass before
/// it finds the range of the bins, unless that is known, as for histogram(). What was stopped early
/// covers the same part of the source in both. Throws Error as these do.
Result<Summary> summarize(Coordinator& coordinator, const Source& source,
                          const SummaryOptions& options = {}, const PassOptions& wanted = {});

/// Checks both answers: verify_reduce() and verify_histogram(), one after the other.
void verify_summary(Coordinator& coordinator, const Source& source, const SummaryOptions& options,
                    const Summary& found, const PassOptions& wanted = {});

}  // namespace ooc
