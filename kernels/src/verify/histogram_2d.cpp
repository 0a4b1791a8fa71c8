#include <ooc/detail/base/units.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram_2d.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/axis_reader.hpp"
#include "verify/plain_bins.hpp"
#include "verify/plain_check.hpp"

// Check of histogram_2d(): both sources are read from beginning to end, and each pair is counted by
// itself.

namespace ooc {

using namespace detail;

namespace {

using plain::AxisReader;
using plain::require_same;

bool has_range(const PairAxis& axis) {
  return axis.bins.range || !axis.bins.edges.empty();
}

/// Checks the edges of an axis after all its numbers were read.
void check_edges_of(const AxisReader& numbers, const std::vector<double>& edges,
                    const std::string& name) {
  const auto& [source, column, bins] = numbers.axis();
  constexpr ElementType any = ElementType::f8;  // the range is that of the numbers, for all types
  plain::check_edges(source, bins, plain::range_for(bins, any, numbers.lowest(), numbers.highest()),
                     edges, name);
}

void require_same_counts(const Source& source, const Histogram2d& found,
                         const Histogram2d& checked) {
  require_same(source, "count", int128{found.count}, int128{checked.count});
  require_same(source, "nan", int128{found.nan}, int128{checked.nan});
  require_same(source, "outside", int128{found.outside}, int128{checked.outside});
  const std::size_t y_bins = std::max<std::size_t>(found.y_edges.size(), 2) - 1;
  for (std::size_t i = 0; i < checked.counts.size(); ++i) {
    require_same(source,
                 "counts[" + std::to_string(i / y_bins) + "][" + std::to_string(i % y_bins) + "]",
                 int128{found.counts[i]}, int128{checked.counts[i]});
  }
}

/// Counts all pairs in the bins that were found.
Histogram2d count_again(AxisReader& x, AxisReader& y, const Histogram2d& found,
                        const PassOptions& wanted) {
  const plain::BinSearch x_bins(x.axis().bins, found.x_edges), y_bins(y.axis().bins, found.y_edges);
  const std::size_t columns = found.y_edges.size() - 1;
  Histogram2d counted{.x_edges = {}, .y_edges = {}, .counts = {}};
  counted.counts.resize(found.counts.size());
  const std::size_t pair_bytes = x.record_bytes() + y.record_bytes();
  const std::uint64_t at_once = std::max<std::uint64_t>(4 * MiB / pair_bytes, 1);
  ProgressReporter reporter(wanted.progress, x.axis().source.bytes());
  while (counted.count < x.records()) {
    if (wanted.stop.stop_requested()) {
      throw Error(ErrorKind::interrupted, "interrupted before the result was verified");
    }
    const std::uint64_t count = std::min(at_once, x.records() - counted.count);
    const std::vector<double> x_values = x.next(count), y_values = y.next(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double a = x_values[i], b = y_values[i];
      if (std::isnan(a) || std::isnan(b)) {
        ++counted.nan;
      } else if (x_bins.is_below(a) || x_bins.is_above(a) || y_bins.is_below(b) ||
                 y_bins.is_above(b)) {
        ++counted.outside;
      } else {
        ++counted.counts[x_bins.bin_of(a) * columns + y_bins.bin_of(b)];
      }
    }
    counted.count += count;
    const std::uint64_t bytes = counted.count * x.record_bytes();
    reporter.report(bytes, bytes, 0);
  }
  return counted;
}

}  // namespace

void verify_histogram_2d(Coordinator& coordinator, const PairAxis& x, const PairAxis& y,
                         const Histogram2d& found, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  AxisReader x_reader(x), y_reader(y);
  if (x_reader.records() == 0 && !(has_range(x) && has_range(y))) {
    require_same(x.source, "the number of cells", int128{found.counts.size()}, int128{0});
    return require_same_counts(x.source, found, {});
  }
  const std::size_t y_bins = std::max<std::size_t>(found.y_edges.size(), 2) - 1;
  plain::check_shape(x.source, x.bins, {found.counts.size() / y_bins, found.x_edges.size()});
  plain::check_shape(y.source, y.bins, {y_bins, found.y_edges.size()});
  const Histogram2d checked = count_again(x_reader, y_reader, found, wanted);
  check_edges_of(x_reader, found.x_edges, "x_edges");
  check_edges_of(y_reader, found.y_edges, "y_edges");
  require_same_counts(x.source, found, checked);
  x.source.check_unchanged();
  y.source.check_unchanged();
}

}  // namespace ooc
