#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/kernels/histogram.hpp>
#include <ooc/detail/kernels/reduce.hpp>

#include <tuple>

namespace ooc {

/// The result of summarize().
struct Summary {
  Statistics statistics;  ///< as reduce() returns them
  Histogram histogram;    ///< as histogram() returns it
};

/// Options of summarize().
struct SummaryOptions {
  ReduceOptions reduce{};        ///< those of reduce()
  HistogramOptions histogram{};  ///< those of histogram()
};

/// Computes reduce() and histogram() of a source together, in one pass. If the range of the bins is
/// not known, another pass finds it first, as in histogram(). If stopped early, both results cover
/// the same part of the source. Throws Error as reduce() and histogram() do.
///
///     const auto [found, stats] = ooc::summarize(coordinator, source);
///     std::cout << found.histogram.counts.size() << " bins, sum "
///               << to_string(found.statistics.sum) << '\n';
OOC_API Result<Summary> summarize(Coordinator& coordinator, const Source& source,
                                  const SummaryOptions& options = {},
                                  const PassOptions& wanted = {});

/// Computes collect_reduce() and collect_histogram() of a section together, in one pass. Throws
/// Error as these do.
OOC_API Result<std::tuple<Part<Statistics>, Part<Histogram>>> collect_summary(
    Coordinator& coordinator, const Source& section, const SummaryOptions& options,
    const PassOptions& wanted = {});

/// Verifies both results: calls verify_reduce(), then verify_histogram(), and throws as these do.
OOC_API void verify_summary(Coordinator& coordinator, const Source& source,
                            const SummaryOptions& options, const Summary& found,
                            const PassOptions& wanted = {});

}  // namespace ooc
