#pragma once

#include <ooc/collect.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/dtype.hpp>
#include <ooc/fold.hpp>
#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ooc {

inline constexpr std::size_t max_cells = std::size_t{1} << 24;  ///< largest number of cells

/// The numbers of one axis of a histogram of pairs, and their bins.
struct PairAxis {
  const Source& source;  ///< has the numbers; it must outlive the call
  /// The name of a field of structs, or the number of a column of rows, from 0. Empty: each element
  /// of the source is a number of the axis.
  std::string column{};
  HistogramOptions bins{.bins = 64};  ///< any but a rule; by default 64 bins
};

/// A histogram of pairs of numbers (x, y). Cell (i, j) holds the pairs whose x is in bin i of the
/// x axis and whose y is in bin j of the y axis. Every pair is counted once: sum(counts) + outside
/// + nan == count.
struct Histogram2d {
  std::vector<double> x_edges;        ///< of the x axis: see Histogram::edges
  std::vector<double> y_edges;        ///< of the y axis
  std::vector<std::uint64_t> counts;  ///< of all cells: that of (i, j) at i * bins of y + j
  std::uint64_t outside = 0;          ///< pairs with a number outside of the bins of its axis
  std::uint64_t nan = 0;              ///< pairs with a NaN
  std::uint64_t count = 0;            ///< all pairs
};

/// Counts pairs of numbers in cells, exactly as `numpy.histogram2d(x.astype(float64),
/// y.astype(float64), bins, range)` does, for every pair of element types, except that pairs with a
/// NaN or an infinity are counted beside the cells. The numbers of both axes are two columns or
/// fields of one source, or the same elements of two sources:
///
///     const ooc::Source points = ooc::open("points.npy");  // of shape (N, 2)
///     const auto [found, stats] = ooc::histogram_2d(
///         coordinator, {.source = points, .column = "0"}, {.source = points, .column = "1"});
///
/// The bins of each axis are those of histogram() for its numbers alone, but a range that is not
/// given is that of all finite numbers of the axis for every type. A pass before the counting pass
/// finds it. On a GPU, the second pass reads only the data that did not fit in its memory (see
/// Resident).
///
/// For an empty source, the result has bins (with counts of 0) only if they are known for both
/// axes. If the pass that finds a range is stopped early, the result has no bins.
///
/// Throws Error: `usage` for invalid bins, a rule for their number, more than max_cells cells, or a
/// column that does not exist; `bad_input` if an axis has no finite number to find its range by, if
/// its range is too narrow for so many bins, if sources have different numbers of records, rows or
/// orders of elements, or if a source is stored column by column and a column is named;
/// `input_changed` if the second pass finds values that the first did not; and as fold() does.
[[nodiscard]] OOC_API Result<Histogram2d> histogram_2d(Coordinator& coordinator, const PairAxis& x,
                                                       const PairAxis& y,
                                                       const PassOptions& wanted = {});

/// Returns the number of passes of histogram_2d(): 2 if it must find a range first, else 1. Throws
/// Error(usage) for invalid bins.
OOC_API std::size_t histogram_2d_passes(const PairAxis& x, const PairAxis& y);

/// An axis without its data, for parts that were saved.
struct SavedAxis {
  ElementType type;                   ///< of its numbers, in any byte order
  HistogramOptions bins{.bins = 64};  ///< as in PairAxis
};

/// Like the function above, for any data of these types that have pairs.
OOC_API std::size_t histogram_2d_passes(const SavedAxis& x, const SavedAxis& y);

/// Returns the plan of histogram_2d() for these arguments. Throws the errors that it would throw
/// before it reads.
OOC_API Stats dry_run_histogram_2d(const Options& machine, DeviceKind device, const PairAxis& x,
                                   const PairAxis& y, const PassOptions& wanted = {});

/// Rows of a tile of histogram_2d() of columns, given the size of a row (bytes), that of both
/// sources together if there are two: 65536 if they have at most 1 MiB, else the largest power of
/// two that has, but at least 1.
constexpr std::size_t pair_tile_rows(std::size_t row_bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  return std::min(std::bit_floor(std::max<std::size_t>(most_bytes / row_bytes, 1)), tile_elements);
}

/// Computes histogram_2d() of a section of its sources, or of whole ones, as a PartialResult (see
/// collect()). The bins of both axes must have a range or edges, because a section does not know
/// the range of all data: collect_pair_bins() finds it first. Axes of one source refer to one
/// section of it, which is then read once; those of two sources to the same section of each.
/// Sections begin and end
///
///  -  at multiples of tile_elements elements or structs: ooc::shard(source, index, count);
///  -  at multiples of pair_tile_rows() rows if columns are named: ooc::shard_rows(source, index,
///     count, ooc::pair_tile_rows(row_bytes));
///  -  or at the end of the data.
///
/// Parts merge if types and bins are equal: that they are of the same columns is for the caller to
/// know, as that they are of the same data. Throws Error(usage) for other bins, and as
/// histogram_2d() and collect() do.
[[nodiscard]] OOC_API Result<PartialResult<Histogram2d>> collect_histogram_2d(
    Coordinator& coordinator, const PairAxis& x, const PairAxis& y, const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error as load_part() does.
[[nodiscard]] OOC_API PartialResult<Histogram2d> load_histogram_2d(
    const SavedAxis& x, const SavedAxis& y, std::span<const std::byte> saved);

/// The bins of both axes that a pass over all data has chosen for histogram_2d().
struct ChosenPairBins {
  HistogramOptions x;              ///< of the x axis: as given, with the range
  HistogramOptions y;              ///< of the y axis
  std::uint64_t least_nan = 0;     ///< pairs with a NaN are as many at least
  std::uint64_t most_nan = 0;      ///< and as many at most
  std::uint64_t most_outside = 0;  ///< pairs outside of the bins are as many at most
};

/// Does the first pass of histogram_2d() over sections: see collect_histogram_2d(). When the parts
/// of all sections are merged, the result has the bins for collect_histogram_2d():
///
///     auto [bins, stats] = ooc::collect_pair_bins(coordinator, {.source = x0}, {.source = y0});
///     bins.merge(ooc::collect_pair_bins(coordinator, {.source = x1}, {.source = y1}).value);
///     const ooc::ChosenPairBins chosen = std::move(bins).result();
///     ooc::collect_histogram_2d(coordinator, {.source = x0, .bins = chosen.x},
///                               {.source = y0, .bins = chosen.y});
///
/// Throws Error as collect() does, and `usage` if the bins of both axes are known (see
/// histogram_2d_passes()). result() throws Error(bad_input) as histogram_2d() does.
[[nodiscard]] OOC_API Result<PartialResult<ChosenPairBins>> collect_pair_bins(
    Coordinator& coordinator, const PairAxis& x, const PairAxis& y, const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error as load_part() does.
[[nodiscard]] OOC_API PartialResult<ChosenPairBins> load_pair_bins(
    const SavedAxis& x, const SavedAxis& y, std::span<const std::byte> saved);

/// Throws Error(input_changed) if a histogram of all data has more or fewer pairs outside of its
/// bins, or with a NaN, than the data had when the bins were chosen, as far as that is known.
OOC_API void require_unchanged(const ChosenPairBins& chosen, const Histogram2d& histogram);

/// Verifies a result of histogram_2d(), given the same arguments. Reads the sources once more, on
/// one thread, finds the bins of each pair by comparing its numbers with the edges, and shares no
/// other code with histogram_2d(). All counts must be equal, and edges equal to within their
/// rounding; if not, throws Error(verify), which names the first difference. Throws also as a pass
/// does, and Error(interrupted) if it is stopped.
OOC_API void verify_histogram_2d(Coordinator& coordinator, const PairAxis& x, const PairAxis& y,
                                 const Histogram2d& found, const PassOptions& wanted = {});

}  // namespace ooc
