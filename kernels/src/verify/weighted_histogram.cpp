#include <ooc/detail/base/units.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/weighted_histogram.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "verify/axis_reader.hpp"
#include "verify/plain_bins.hpp"
#include "verify/plain_check.hpp"
#include "verify/plain_records.hpp"
#include "verify/plain_sum.hpp"

// Check of weighted_histogram(): both sources are read from beginning to end, and the weight of
// each value is added by itself.

namespace ooc {

using namespace detail;

namespace {

using plain::require_same;

/// The weights that were added to a bin.
class WeightsSeen {
 public:
  void add(long double weight, bool is_integer) {
    ++count_;
    if (is_integer) {
      integers_ += static_cast<int128>(weight);
    } else if (std::isfinite(weight)) {
      finite_.add(weight);
    } else {
      others_ += static_cast<double>(weight);  // infinities of both signs make NaN
    }
  }

  std::uint64_t count() const { return count_; }
  Scalar sum(bool is_integer) const {
    if (is_integer) return integers_;
    return others_ == 0 ? finite_.rounded() : others_;
  }

 private:
  std::uint64_t count_ = 0;
  int128 integers_ = 0;
  plain::PlainSum finite_{};
  double others_ = 0;
};

/// Reads the weights one after another.
class WeightReader {
 public:
  explicit WeightReader(const Source& weights)
      : number_(plain::number_in("", weights)), reader_(weights, 1) {}

  std::size_t bytes() const { return reader_.record_bytes(); }

  std::vector<long double> next(std::uint64_t count) {
    const std::vector<std::byte> records = reader_.next(count);
    std::vector<long double> weights;
    for (std::uint64_t i = 0; i < count; ++i) {
      weights.push_back(number_.value_in(std::span(records).subspan(i * bytes(), bytes())));
    }
    return weights;
  }

 private:
  plain::NumberInRecord number_;
  plain::RecordReader reader_;
};

/// The weights of all bins, then those of values below, above and NaN.
std::vector<WeightsSeen> add_again(plain::AxisReader& values, const Source& weights,
                                   const WeightedHistogram& found, const PassOptions& wanted) {
  const std::size_t bins = found.sums.size();
  const plain::BinSearch search(values.axis().bins, found.histogram.edges);
  const bool are_integers = visit(
      weights.element(), []<class T>(std::type_identity<T>) { return std::is_integral_v<T>; });
  WeightReader weight_reader(weights);
  std::vector<WeightsSeen> seen(bins + 3);
  const std::size_t pair_bytes = values.record_bytes() + weight_reader.bytes();
  const std::uint64_t at_once = std::max<std::uint64_t>(4 * MiB / pair_bytes, 1);
  ProgressReporter reporter(wanted.progress, values.axis().source.bytes());
  for (std::uint64_t done = 0; done < values.records();) {
    if (wanted.stop.stop_requested()) {
      throw Error(ErrorKind::interrupted, "interrupted before the result was verified");
    }
    const std::uint64_t count = std::min(at_once, values.records() - done);
    const std::vector<double> some = values.next(count);
    const std::vector<long double> some_weights = weight_reader.next(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double value = some[i];
      const std::size_t bin = std::isnan(value)        ? bins + 2
                              : search.is_below(value) ? bins
                              : search.is_above(value) ? bins + 1
                                                       : search.bin_of(value);
      seen[bin].add(some_weights[i], are_integers);
    }
    done += count;
    const std::uint64_t bytes = done * values.record_bytes();
    reporter.report(bytes, bytes, 0);
  }
  return seen;
}

void require_same_sums(const Source& source, const Source& weights, const WeightedHistogram& found,
                       const std::vector<WeightsSeen>& seen) {
  const auto& [edges, counts, below, above, nan, count] = found.histogram;
  const bool are_integers = visit(
      weights.element(), []<class T>(std::type_identity<T>) { return std::is_integral_v<T>; });
  std::uint64_t all = 0;
  for (const WeightsSeen& each : seen) all += each.count();
  require_same(source, "count", int128{count}, int128{all});
  const auto check = [&](const std::string& suffix, const WeightsSeen& checked,
                         std::uint64_t in_result, const Scalar& sum, const char* counted,
                         const char* summed) {
    require_same(source, counted + suffix, int128{in_result}, int128{checked.count()});
    require_same(weights, summed + suffix, sum, checked.sum(are_integers));
  };
  const std::size_t bins = counts.size();
  check("", seen[bins], below, found.sum_below, "below", "sum_below");
  check("", seen[bins + 1], above, found.sum_above, "above", "sum_above");
  check("", seen[bins + 2], nan, found.sum_nan, "nan", "sum_nan");
  for (std::size_t i = 0; i < bins; ++i) {
    check("[" + std::to_string(i) + "]", seen[i], counts[i], found.sums[i], "counts", "sums");
  }
}

}  // namespace

void verify_weighted_histogram(Coordinator& coordinator, const Source& source,
                               const Source& weights, const HistogramOptions& options,
                               const WeightedHistogram& found, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  const Histogram& histogram = found.histogram;
  require_same(weights, "the number of sums", int128{found.sums.size()},
               int128{histogram.counts.size()});
  const PairAxis axis{.source = source, .bins = options};
  plain::AxisReader values(axis);
  const bool given = options.range || !options.edges.empty();
  if (values.records() == 0 && !given) {  // such a result has no bins
    require_same(source, "the number of bins", int128{histogram.counts.size()}, int128{0});
    require_same(source, "the number of edges", int128{histogram.edges.size()}, int128{0});
    return require_same_sums(source, weights, found, std::vector<WeightsSeen>(3));
  }
  plain::check_shape(source, options, {histogram.counts.size(), histogram.edges.size()});
  const std::vector<WeightsSeen> seen = add_again(values, weights, found, wanted);
  plain::check_edges(source, options,
                     plain::range_for(options, source.element(), values.lowest(), values.highest()),
                     histogram.edges);
  require_same_sums(source, weights, found, seen);
  source.check_unchanged();
  weights.check_unchanged();
}

}  // namespace ooc
