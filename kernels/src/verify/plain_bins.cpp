#include "verify/plain_bins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "verify/plain_check.hpp"

namespace ooc::detail::plain {

namespace {

using Range = HistogramOptions::Range;

/// The exact position of an edge between the ends, and the largest error that rounding explains. In
/// double precision, an even edge takes five roundings, each at most a unit of the sum of both
/// ends; where steps are below the smallest normal number, each step may be off by the smallest
/// number. For a logarithmic edge, the exponent takes as many roundings, and the power multiplies
/// their error by ln 10; the result is rounded to a multiple of the smallest number.
struct BoundedEdge {
  long double edge, bound;
};

BoundedEdge bounded_edge(const HistogramOptions& options, Range range, std::size_t index,
                         std::size_t bins) {
  constexpr long double unit = 0x1p-53L;
  constexpr long double smallest = std::numeric_limits<double>::denorm_min();
  const long double part = static_cast<long double>(index) / static_cast<long double>(bins);
  const long double lower = range.lower, upper = range.upper;
  if (!options.logarithmic) {
    return {lower + (upper - lower) * part, 8 * unit * (std::abs(lower) + std::abs(upper)) +
                                                static_cast<long double>(bins) * smallest};
  }
  const long double first = std::log10(lower), last = std::log10(upper);
  const long double edge = std::pow(10.0L, first + (last - first) * part);
  return {edge, edge * unit * (16 + 64 * (std::abs(first) + std::abs(last))) + 2 * smallest};
}

/// True if bins must be found as NumPy does. For even bins, NumPy guesses by a multiplication and
/// corrects the guess by one bin if the edges require it. If edges are off by at most half a bin,
/// after the five roundings of bounded_edge(), this finds the bin that the edges define. In
/// narrower bins it may not, and then the bin that NumPy finds is right by definition; except if
/// bins are so narrow that NumPy fails, where histogram() searches.
bool numpy_guess_defines_bins(const HistogramOptions& options, const std::vector<double>& edges) {
  if (options.logarithmic || !options.edges.empty()) return false;
  const double lower = edges.front(), upper = edges.back();
  const auto bins = static_cast<double>(edges.size() - 1);
  if (!std::isfinite(bins / (upper - lower))) return false;
  return (upper - lower) / bins < 10 * 0x1p-53 * (std::abs(lower) + std::abs(upper));
}

}  // namespace

BinSearch::BinSearch(const HistogramOptions& options, const std::vector<double>& edges)
    : edges_(edges), bins_(edges.size() - 1), guesses_(numpy_guess_defines_bins(options, edges)) {}

std::size_t BinSearch::bin_of(double value) const {
  return guesses_ ? guess(value) : search(value);
}

/// A binary search without branches. Branches would be unpredictable: std::upper_bound() takes
/// several times as long.
std::size_t BinSearch::search(double value) const {
  std::size_t bin = 0;
  for (std::size_t step = std::bit_floor(bins_); step != 0; step /= 2) {
    const std::size_t next = std::min(bin + step, bins_ - 1);
    bin = edges_[next] <= value ? next : bin;
  }
  return bin;
}

/// Returns the bin that NumPy finds: see numpy_guess_defines_bins().
std::size_t BinSearch::guess(double value) const {
  const std::size_t last = bins_ - 1;
  const double scale = static_cast<double>(bins_) / (edges_.back() - edges_.front());
  const auto bin = std::min(static_cast<std::size_t>((value - edges_.front()) * scale), last);
  if (value < edges_[bin]) return bin - 1;
  return bin != last && value >= edges_[bin + 1] ? bin + 1 : bin;
}

Range range_for(const HistogramOptions& options, ElementType type, double lowest, double highest) {
  Range range{lowest, highest};
  const bool by_type = !options.logarithmic && !options.bins.rule();
  if (options.range) {
    range = *options.range;
  } else if (by_type && type == ElementType::u1) {
    range = {0, 256};
  } else if (by_type && type == ElementType::i1) {
    range = {-128, 128};
  }
  if (range.lower == range.upper) range = {range.lower - 0.5, range.upper + 0.5};
  return {range.lower + 0.0, range.upper + 0.0};  // turns -0 into +0
}

void check_edges(const Source& source, const HistogramOptions& options, Range range,
                 const std::vector<double>& edges, const std::string& name_of_edges) {
  const auto name = [&](std::size_t index) {
    return name_of_edges + "[" + std::to_string(index) + "]";
  };
  if (!options.edges.empty()) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      require_same(source, name(i), edges[i], options.edges[i]);
    }
    return;
  }
  require_same(source, name(0), edges.front(), range.lower);
  const std::size_t bins = edges.size() - 1;
  require_same(source, name(bins), edges.back(), range.upper);
  for (std::size_t i = 1; i < bins; ++i) {
    const auto [edge, bound] = bounded_edge(options, range, i, bins);
    if (std::abs(edges[i] - edge) <= bound) continue;
    throw difference(
        source, name(i), edges[i], static_cast<double>(edge),
        "rounding explains " + to_string(Scalar{static_cast<double>(bound)}) + " at most");
  }
}

void check_shape(const Source& source, const HistogramOptions& options, const BinShape& found) {
  const bool by_rule = options.edges.empty() && options.bins.rule();
  const std::size_t bins = by_rule                 ? std::max<std::size_t>(found.bins, 1)
                           : options.edges.empty() ? options.bins.number()
                                                   : options.edges.size() - 1;
  require_same(source, "the number of bins", int128{found.bins}, int128{bins});
  require_same(source, "the number of edges", int128{found.edges}, int128{bins + 1});
}

}  // namespace ooc::detail::plain
