#pragma once

#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Edges of bins, and the bin of a value. This is the only definition: the loops of both devices are
// compiled from it, so they cannot differ.
//
// Values outside of the bins have counters too, after those of the bins, so that every value has a
// counter and the loops need no branches.

namespace ooc::detail::binning {

/// Number of counters after those of the bins: below, above and NaN.
inline constexpr std::size_t outside_counters = 3;

/// Numbers of the counters: 0 to `last` for the bins, then three for values outside.
struct BinNumbers {
  std::int32_t last;

  constexpr std::int32_t below() const { return last + 1; }
  constexpr std::int32_t above() const { return last + 2; }
  constexpr std::int32_t nan() const { return last + 3; }
};

/// Bins of equal width, by the arithmetic of NumPy: a multiplication guesses the bin, which is then
/// corrected by one if the value is beyond the guessed bin's edges, which are rounded. Edges are
/// computed on the fly, which is faster than a table.
struct EvenBins : BinNumbers {
  double lower, upper;
  double step;   // (upper - lower) / bins
  double scale;  // bins / (upper - lower), finite

  /// Lower edge of bin `index`. The last edge is `upper`.
  constexpr double edge(std::int32_t index) const { return index * step + lower; }

  constexpr std::uint32_t bin_of(double value) const {
    const double raised = value > lower ? value : lower;  // NaN becomes `lower`, too
    const double inside = raised < upper ? raised : upper;
    const auto guess = static_cast<std::int32_t>((inside - lower) * scale);
    const std::int32_t index = guess < last ? guess : last;
    const std::int32_t lowered = inside < edge(index) ? index - 1 : index;
    const bool up = (inside >= edge(index + 1)) & (index != last);
    const std::int32_t found = up ? index + 1 : lowered;
    const std::int32_t number = value == value ? found : nan();
    const std::int32_t not_below = value < lower ? below() : number;
    return static_cast<std::uint32_t>(value > upper ? above() : not_below);
  }
};

/// Bins with arbitrary edges, of which there are last + 2, found by binary search.
struct ListedBins : BinNumbers {
  const double* edges;

  std::span<const double> table() const { return {edges, static_cast<std::size_t>(last) + 2}; }
  void set_table(const double* table) { edges = table; }

  constexpr std::uint32_t bin_of(double value) const {
    std::int32_t found = 0;
    for (std::int32_t left = last + 1; left > 1; left -= left / 2) {
      found = nearer(found, left / 2, value);
    }
    return number_of(found, value);
  }

  /// One step of the search for the last of the edges 0 to `last` that is at most `value`.
  constexpr std::int32_t nearer(std::int32_t found, std::int32_t distance, double value) const {
    return edges[found + distance] <= value ? found + distance : found;
  }

  /// Returns the bin found, or the counter for a value outside.
  constexpr std::uint32_t number_of(std::int32_t found, double value) const {
    const std::int32_t number = value == value ? found : nan();
    const std::int32_t not_below = value < edges[0] ? below() : number;
    return static_cast<std::uint32_t>(value > edges[last + 1] ? above() : not_below);
  }
};

/// The bins of elements that are numbers of counters already.
struct NumberedBins : BinNumbers {
  /// For so many counters, at least three.
  explicit constexpr NumberedBins(std::size_t counters)
      : BinNumbers{static_cast<std::int32_t>(counters - outside_counters) - 1} {}
};

/// Returns the number of the counter of an element.
constexpr std::uint32_t number_in(const NumberedBins& /*bins*/, std::uint32_t element) {
  return element;
}
template <class Found, class T>
constexpr std::uint32_t number_in(const Found& bins, T element) {
  return bins.bin_of(to_double(element));
}

/// The bins of a histogram.
struct Bins {
  std::vector<double> edges;
  std::optional<EvenBins> even{};  // empty if the bin must be found by a search

  std::size_t size() const { return edges.size() - 1; }
  std::size_t counters() const { return size() + outside_counters; }
  ListedBins listed() const { return {{static_cast<std::int32_t>(size()) - 1}, edges.data()}; }
};

/// Calls `body` with the EvenBins of `bins`, or with its ListedBins if it has none.
template <class Body>
decltype(auto) visit(const Bins& bins, Body&& body) {
  return bins.even ? body(*bins.even) : body(bins.listed());
}

/// Throws Error(usage) for options that are invalid for any data.
void check(const HistogramOptions& options);

/// Returns the bins for `options`, which must have passed check() and have no rule, over `range`,
/// which is ignored if the options list edges. Throws Error(kind) if some bin would have no width
/// in that range.
Bins make_bins(const HistogramOptions& options, HistogramOptions::Range range, ErrorKind kind);

}  // namespace ooc::detail::binning
