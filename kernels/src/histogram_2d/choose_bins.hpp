#pragma once

#include "histogram/bins.hpp"
#include "histogram_2d/cells.hpp"
#include "histogram_2d/survey.hpp"

#include <ooc/dtype.hpp>
#include <ooc/fold.hpp>
#include <ooc/histogram_2d.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// The parts of histogram_2d() before and after counting: the choice of the bins, and the check of
// the counts.

namespace ooc::detail::pairs {

/// An axis, for the choice of its bins.
struct Axis {
  ElementType type;
  HistogramOptions bins;
  std::string name;            // for errors
  std::filesystem::path path;  // of the data, for errors
};

/// Both axes, of which the first is that of x.
using Axes = std::array<Axis, 2>;

/// Returns the cells of the bins of both axes. Throws Error(usage) for bins that are invalid for
/// any data.
CellNumbers cells_of(const HistogramOptions& x, const HistogramOptions& y);

/// Returns the bins of both axes; empty if a range is not known.
std::optional<std::array<binning::Bins, 2>> known_bins(const Axes& axes);

/// Returns the bins over the numbers that a survey has found. Throws Error(bad_input) that names
/// the axis if there are none.
ChosenPairBins bins_over(const SurveyOf<2>& survey, const Axes& axes);

/// Throws Error(input_changed) if the counting pass saw other numbers than the one that has chosen
/// the bins, as far as that shows: a pair may have a NaN or an infinity on both axes. `partial`: it
/// has not seen all pairs. `path`: of the data, for errors.
void check_unchanged(const Histogram2d& found, const ChosenPairBins& chosen, bool partial,
                     const std::filesystem::path& path);

/// The choice of bins, wherever the numbers come from.
class ChoosePairBins {
 public:
  using Partial = SurveyOf<2>;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = "ooc.pair_bins/1";

  /// Throws Error(usage) if the bins of both axes are known.
  explicit ChoosePairBins(Axes axes);

  ChosenPairBins result(const Partial& total) const { return bins_over(total, axes_); }
  std::string question() const;
  std::uint64_t records_in(const Partial& total) const { return total.pairs; }

 private:
  Axes axes_;
};

}  // namespace ooc::detail::pairs
