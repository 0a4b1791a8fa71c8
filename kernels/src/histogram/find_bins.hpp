#pragma once

#include <ooc/detail/operators/passes.hpp>
#include <ooc/histogram.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "histogram/bins.hpp"
#include "histogram/count.hpp"

// The parts of histogram() before and after counting: the choice of the bins, which may require a
// pass over the data, and the check of the counts.

namespace ooc::detail::binning {

/// True if the bins are known without reading the data. Throws Error(usage) for options that are
/// invalid for any data.
bool are_known(ElementType type, const HistogramOptions& options);

/// Returns the bins, if they are known without reading the data. Throws Error(usage) for invalid
/// options.
std::optional<Bins> known_bins(ElementType type, const HistogramOptions& options);

/// Throws Error(usage) if the bins are known without reading the data, and for invalid options.
void require_unknown_bins(ElementType type, const HistogramOptions& options);

/// Returns the error for a source that can be read only once, for bins that depend on its data.
Error read_once(const Source& source, const HistogramOptions& options);

/// Finds the bins in a pass over the data. Returns none if that pass was stopped. Throws Error as
/// histogram() does.
std::optional<ChosenBins> find_bins(Passes& passes, const Source& source,
                                    const HistogramOptions& options);

/// Returns the bins over values with these extremes, for a number of bins. Throws Error(bad_input)
/// if no value is finite, or if bins would have no width. `path`: of the data, for errors.
ChosenBins bins_over(const Extremes& extremes, const HistogramOptions& options, ElementType type,
                     const std::filesystem::path& path);

/// Restores the extremes of so many saved elements. Throws Error(bad_input) if there are no such
/// elements.
Extremes take_extremes(ByteReader& bytes, std::uint64_t elements);

/// Returns the error for data in which the last pass found other values than the first one.
Error input_changed(const std::filesystem::path& path);

/// Checks a histogram. That of an empty source gets counts of 0 if a range or edges were given,
/// otherwise no bins. `chosen`: the bins, if a pass has found them. `stats`: those of all passes.
/// Throws Error: `internal` unless each element was counted once, `input_changed` if the counting
/// pass saw other values than the first one.
void complete(Histogram& histogram, const Source& source, const HistogramOptions& options,
              const std::optional<ChosenBins>& chosen, const Stats& stats);

/// Returns the statistics of passes that were stopped before there was a result.
Stats without_results(Stats stats);

/// Counts the elements in bins, which a pass before finds if they are not known, and folds the
/// source with other operators in the same pass. If the pass that finds the bins is stopped, there
/// are no results.
template <IsElement T, class... Others>
Result<std::optional<std::tuple<Histogram, ResultOf<Others>...>>> count_beside(
    Coordinator& coordinator, const Source& source, const HistogramOptions& options,
    const PassOptions& wanted, const Others&... others) {
  Passes passes(coordinator, inputs_of<T>(source), wanted);
  HistogramOptions known = options;
  std::optional<ChosenBins> chosen;
  if (!are_known(source.element(), options)) {
    known = {.edges = {0, 1}};  // placeholder bins for an empty histogram
    if (!source.is_empty()) {
      chosen = find_bins(passes, source, options);
      if (!chosen) return {{}, without_results(passes.stats())};
      known = chosen->options;
    }
  }
  auto found = passes.fold_last(std::tuple(CountBins<T>(known), others...));
  Stats stats = passes.stats();
  complete(std::get<0>(found), source, options, chosen, stats);
  return {std::move(found), std::move(stats)};
}

}  // namespace ooc::detail::binning
