#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/histogram_2d.hpp>
#include <string>
#include <vector>

namespace ooc_run {

/// Neighbouring cells that share a field of a picture, in columns along x and rows along y.
struct CellGroups {
  std::vector<double> x_edges, y_edges;  // of the groups
  std::vector<std::uint64_t> counts;     // of column 0 from below, then of column 1, and so on
  std::size_t x_each, y_each;            // bins of a group; the last one has the remainder
  std::uint64_t most;                    // the largest count of a group

  std::size_t columns() const { return x_edges.size() - 1; }
  std::size_t rows() const { return y_edges.size() - 1; }
  std::uint64_t at(std::size_t column, std::size_t row) const {
    return counts[column * rows() + row];
  }
};

/// Groups the cells of a histogram, which has some, to at most so many columns and rows.
CellGroups group_cells(const ooc::Histogram2d& histogram, std::size_t most_columns,
                       std::size_t most_rows);

/// Returns "64 x 32 cells: x from 0 to 1, y from -3 to 3, each field sums 2 x 1 cells, log scale".
std::string describe_cells(const ooc::Histogram2d& histogram, const CellGroups& groups,
                           bool logarithmic);

/// Returns the counts of pairs that are in no cell: "7 outside, 12,345 nan". Empty if there are
/// none.
std::string describe_outside(const ooc::Histogram2d& histogram);

}  // namespace ooc_run
