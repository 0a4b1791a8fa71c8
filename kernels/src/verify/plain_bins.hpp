#pragma once

#include <ooc/dtype.hpp>
#include <ooc/histogram.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <string>
#include <vector>

// Shared by the checks of histograms: edges, and the bin of a value, by comparisons.

namespace ooc::detail::plain {

/// Finds the bins of values by their edges.
class BinSearch {
 public:
  /// `options`: with which the bins were made. `edges` must outlive the search.
  BinSearch(const HistogramOptions& options, const std::vector<double>& edges);

  bool is_below(double value) const { return value < edges_.front(); }
  bool is_above(double value) const { return value > edges_.back(); }

  /// Returns the last bin whose lower edge is at most `value`, which is neither below nor above
  /// the bins, nor NaN. The last bin includes its upper edge.
  std::size_t bin_of(double value) const;

 private:
  std::size_t search(double value) const;
  std::size_t guess(double value) const;

  const std::vector<double>& edges_;
  std::size_t bins_;
  bool guesses_;
};

/// Returns the ends of evenly or logarithmically spaced bins. `lowest`, `highest`: of the finite
/// values.
HistogramOptions::Range range_for(const HistogramOptions& options, ElementType type, double lowest,
                                  double highest);

/// Throws Error(verify) unless edges are those of the options, to within their rounding. `name`: of
/// the edges, for errors.
void check_edges(const Source& source, const HistogramOptions& options,
                 HistogramOptions::Range range, const std::vector<double>& edges,
                 const std::string& name = "edges");

/// How many bins and edges a result has.
struct BinShape {
  std::size_t bins, edges;
};

/// Checks the numbers of bins and edges, on which all other checks depend. The number that a rule
/// gives is checked later, when the data has been read.
void check_shape(const Source& source, const HistogramOptions& options, const BinShape& found);

}  // namespace ooc::detail::plain
