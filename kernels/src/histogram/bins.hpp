#pragma once

#include <ooc/io/error.hpp>
#include <ooc/kernels/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// Where the bins lie, and which of them a value falls into. This is the only definition of that:
// the loops of both devices are compiled from it, so that they cannot differ.
//
// Values outside have counters too, behind those of the bins, so that every value has one and the
// loops need no branches.

namespace ooc::binning {

/// Counters behind those of the bins: for values below, above, and NaN.
inline constexpr std::size_t outside_counters = 3;

/// The bins 0 to `last`, and where values outside of them are counted.
struct BinNumbers {
  std::int32_t last;

  constexpr std::int32_t below() const { return last + 1; }
  constexpr std::int32_t above() const { return last + 2; }
  constexpr std::int32_t nan() const { return last + 3; }
};

/// Bins of equal width, by the arithmetic of NumPy: the bin is guessed by a multiplication, and
/// moved by one if the edges, which are rounded, say so. Edges are computed where they are needed,
/// which is faster than to look them up.
struct EvenBins : BinNumbers {
  double lower, upper;
  double step;   // (upper - lower) / bins
  double scale;  // bins / (upper - lower), finite

  /// The edge `index`, but for the last, which is `upper`.
  constexpr double edge(std::int32_t index) const { return index * step + lower; }

  constexpr std::uint32_t bin_of(double value) const {
    const double raised = value > lower ? value : lower;  // also if it is NaN
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

/// Any bins, found by a binary search in their edges, of which there are last + 2.
struct ListedBins : BinNumbers {
  const double* edges;

  constexpr std::uint32_t bin_of(double value) const {
    std::int32_t found = 0;
    for (std::int32_t left = last + 1; left > 1; left -= left / 2) {
      found = nearer(found, left / 2, value);
    }
    return number_of(found, value);
  }

  /// A step of the search for the last of the edges 0 to `last` that is not above the value.
  constexpr std::int32_t nearer(std::int32_t found, std::int32_t distance, double value) const {
    return edges[found + distance] <= value ? found + distance : found;
  }

  /// What the search found, unless the value is outside.
  constexpr std::uint32_t number_of(std::int32_t found, double value) const {
    const std::int32_t number = value == value ? found : nan();
    const std::int32_t not_below = value < edges[0] ? below() : number;
    return static_cast<std::uint32_t>(value > edges[last + 1] ? above() : not_below);
  }
};

/// The bins of a histogram.
struct Bins {
  std::vector<double> edges;
  std::optional<EvenBins> even{};  // if they can be found by arithmetic

  std::size_t size() const { return edges.size() - 1; }
  std::size_t counters() const { return size() + outside_counters; }
  ListedBins listed() const { return {{static_cast<std::int32_t>(size()) - 1}, edges.data()}; }
};

/// Calls `body` with the EvenBins or else the ListedBins of `bins`.
template <class Body>
decltype(auto) visit(const Bins& bins, Body&& body) {
  return bins.even ? body(*bins.even) : body(bins.listed());
}

/// Throws Error(usage) for options that make no sense whatever the data is.
void check(const HistogramOptions& options);

/// The bins of the options, which have passed check(), over `range`, which is unused if they list
/// edges. Throws Error(cause) if there can be no such bins in that range, each with a width.
Bins make_bins(const HistogramOptions& options, HistogramOptions::Range range, ErrorKind kind);

}  // namespace ooc::binning
