#pragma once

#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/fold.hpp>
#include <ooc/resident.hpp>

#include <memory>
#include <optional>
#include <tuple>

#include "histogram/count.hpp"

// The parts of histogram() before and after counting: the choice of the bins, which may require a
// pass over the data, and the check of the counts.

namespace ooc::detail::binning {

/// Returns the bins, if they are known without reading the data. Throws Error(usage) for invalid
/// options.
std::optional<Bins> known_bins(ElementType type, const HistogramOptions& options);

/// Returns the error for a source that can be read only once, for bins that depend on its data.
Error read_once(const Source& source, const HistogramOptions& options);

/// The findings of the first pass.
struct Survey {
  Extremes extremes{};
  std::optional<double> stddev{};  // of the values that are not NaN, if a rule needs it
};

/// The bins to count in, and the result of the pass that found them, if there was one.
struct FoundBins {
  std::shared_ptr<const Bins> bins{};  // null if that pass was stopped
  std::optional<Result<Survey>> pass{};
  std::optional<Resident> kept{};  // the source, and the data that this pass has left resident
  std::optional<CheckpointFile> file{};  // the job's, if it has a checkpoint
};

/// Returns the bins. If they are not known, reads the source to find its range and the statistics
/// that a rule needs. Throws Error as histogram() does.
FoundBins find_bins(Coordinator& coordinator, const Source& source, const HistogramOptions& options,
                    const PassOptions& wanted);

/// Returns the operator that counts in these bins.
template <IsElement T>
CountBins<T> counting_in(std::shared_ptr<const Bins> bins) {
  return CountBins<T>(std::move(bins));
}

/// Folds the source: the resident part from the device, the rest from the files.
template <class... Ops>
auto fold_found(Coordinator& coordinator, const std::tuple<Ops...>& ops, const Source& source,
                FoundBins& found, const PassOptions& wanted) {
  if (found.file) {
    using Input = typename std::tuple_element_t<0, std::tuple<Ops...>>::Input;
    const auto inputs = inputs_of<Input>(source);
    return fold_divided(coordinator, ops, inputs, wanted, &*found.file);
  }
  return found.kept ? fold(coordinator, ops, *found.kept, wanted)
                    : fold(coordinator, ops, source, wanted);
}

/// Checks a histogram, and returns the statistics of both passes together. The histogram of an
/// empty source gets counts of 0 if a range or edges were given, otherwise no bins. Throws Error:
/// `internal` unless each element was counted once, `input_changed` if the counting pass saw other
/// values than the first one.
Stats complete(Histogram& histogram, const Source& source, const HistogramOptions& options,
               const FoundBins& found, const Stats& counting);

}  // namespace ooc::detail::binning
