#pragma once

#include <ooc/dtype.hpp>
#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

// The number of bins that each rule gives, as numpy.histogram_bin_edges() of NumPy 2.4 computes it
// for the values as float64. For f2 and f4 data, NumPy computes in their type, which is less exact.

namespace ooc::detail::binning {

/// The properties of the finite values that rules use.
struct Sample {
  std::uint64_t count;  // of the finite values
  double lowest, highest;
  double stddev;  // of the population; for BinRule::scott
  bool of_integers;
  double iqr = 0;  // the distance of the quartiles; for BinRule::fd and automatic
};

/// True if a rule needs the quartiles.
bool needs_quartiles(const HistogramOptions& options);

/// Returns the number of bins that a rule gives, which may be more than max_bins. 1 if all values
/// are equal, or if bins would have no width.
double bins_by(BinRule rule, const Sample& sample);

/// Returns the number of bins of a histogram of so many elements, to size the memory of a pass. If
/// a rule determines it, returns its likely value for finite values, at most max_bins.
std::size_t likely_bins(const HistogramOptions& options, ElementType type, std::uint64_t elements);

/// Returns the options of the search for the quartiles.
QuantileOptions quartiles();

/// True for types of integers.
bool are_integers(ElementType type);

/// Returns the name that NumPy has for a rule.
std::string_view name_of(BinRule rule);

}  // namespace ooc::detail::binning
