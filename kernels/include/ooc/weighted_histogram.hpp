#pragma once

#include <ooc/collect.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/dtype.hpp>
#include <ooc/fold.hpp>
#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace ooc {

/// Largest number of bins with weights: each has an exact sum, of up to 540 bytes for f8.
inline constexpr std::size_t max_weighted_bins = std::size_t{1} << 16;

/// A histogram of values that have a weight each. Sums are exact integers for weights of an integer
/// type, and for floating weights doubles that were rounded once from the exact sum, ties to even.
/// As in IEEE arithmetic, a sum is NaN if a weight in it is NaN or if it has infinities of both
/// signs, and infinite if it has one of them or is beyond the largest double.
struct WeightedHistogram {
  Histogram histogram;       ///< of the values, without weights, as histogram() returns it
  std::vector<Scalar> sums;  ///< of the weights in each bin
  Scalar sum_below;          ///< of the weights of values below the first edge
  Scalar sum_above;          ///< of the weights of values above the last edge
  Scalar sum_nan;            ///< of the weights of values that are NaN
};

/// Adds up the weights of the values in each bin, as `numpy.histogram(x.astype(float64), bins,
/// range, weights=w)` does, but exactly: the sums have the same bits for every chunk size, number
/// of streams and device. Element i of `weights`, of any type, is the weight of element i of
/// `source`.
///
///     const auto [found, stats] =
///         ooc::weighted_histogram(coordinator, energies, weights, {.bins = 100});
///
/// The bins are those of histogram() for the values alone; a rule for their number is refused, as
/// NumPy does. If their range must be found first, a pass before reads both sources, too. On a GPU,
/// the second pass reads only the data that did not fit in its memory (see Resident). For no values
/// and a stopped pass, see histogram().
///
/// Throws Error: `usage` for invalid bins, a rule, or more than max_weighted_bins; `bad_input` if
/// the sources have different numbers of elements, rows or orders of elements, and as histogram()
/// does; `input_changed` if the second pass finds values that the first did not; and as fold()
/// does.
[[nodiscard]] OOC_API Result<WeightedHistogram> weighted_histogram(
    Coordinator& coordinator, const Source& source, const Source& weights,
    const HistogramOptions& options = {}, const PassOptions& wanted = {});

/// Returns the plan of weighted_histogram() for these arguments, which takes histogram_passes()
/// passes. Throws the errors that it would throw before it reads.
OOC_API Stats dry_run_weighted_histogram(const Options& machine, DeviceKind device,
                                         const Source& source, const Source& weights,
                                         const HistogramOptions& options = {},
                                         const PassOptions& wanted = {});

/// Computes weighted_histogram() of the same section of both sources, or of whole ones, as a
/// PartialResult (see collect()). The options must determine the range, because a section does not
/// know the range of all data: collect_bins() of the values finds it first. A section begins and
/// ends at multiples of tile_elements, or at the end of the data:
///
///     const ooc::Source x = ooc::shard(energies, 0, 2), w = ooc::shard(weights, 0, 2);
///     auto [all, stats] = ooc::collect_weighted_histogram(coordinator, x, w, chosen.options);
///
/// Throws Error(usage) for other options, and as weighted_histogram() and collect() do.
[[nodiscard]] OOC_API Result<PartialResult<WeightedHistogram>> collect_weighted_histogram(
    Coordinator& coordinator, const Source& section, const Source& weights,
    const HistogramOptions& options, const PassOptions& wanted = {});

/// Restores such a part, of values and weights of these types, from the bytes of
/// PartialResult::save(). Throws Error as load_part() does.
[[nodiscard]] OOC_API PartialResult<WeightedHistogram> load_weighted_histogram(
    ElementType type, ElementType of_weights, const HistogramOptions& options,
    std::span<const std::byte> saved);

/// Verifies a result of weighted_histogram(), given the same arguments. Reads both sources once
/// more, on one thread, finds the bin of each value by comparing it with the edges, adds its weight
/// to an expansion of long doubles, and shares no other code with weighted_histogram(). All counts
/// and sums must be equal, and edges equal to within their rounding; if not, throws Error(verify),
/// which names the first difference. Throws also as a pass does, and Error(interrupted) if it is
/// stopped.
OOC_API void verify_weighted_histogram(Coordinator& coordinator, const Source& source,
                                       const Source& weights, const HistogramOptions& options,
                                       const WeightedHistogram& found,
                                       const PassOptions& wanted = {});

}  // namespace ooc
