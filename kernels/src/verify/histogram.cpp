#include "verify/plain_bins.hpp"
#include "verify/plain_check.hpp"

#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>

namespace ooc {

using namespace detail;
namespace {

using plain::require_same;
/// The counts of one thread. Each value is counted by itself: its bin is the last one whose lower
/// edge is at most the value.
struct alignas(128) Counts {
  const plain::BinSearch* search = nullptr;
  std::vector<std::uint64_t> bins{};
  std::uint64_t below = 0, above = 0, nan = 0, count = 0, finite = 0;
  std::optional<long double> center{};     // near the mean, if a rule needs the standard deviation
  long double distances = 0, squares = 0;  // sums of (squared) distances from `center`
  double lowest = std::numeric_limits<double>::infinity();  // of the finite values
  double highest = -std::numeric_limits<double>::infinity();

  std::size_t bytes() const { return sizeof(*this) + bins.size() * sizeof(bins[0]); }

  template <class T>
  void take(std::span<const T> elements, std::uint64_t /*first*/) {
    for (const T element : elements) see(static_cast<double>(plain::value_of(element)));
    if (!center) return;
    long double block_distances = 0, block_squares = 0;
    for (const T element : elements) {
      const auto value = static_cast<long double>(plain::value_of(element));
      if (!std::isfinite(value)) continue;
      block_distances += value - *center;
      block_squares += (value - *center) * (value - *center);
    }
    distances += block_distances;
    squares += block_squares;
  }

  void see(double value) {
    ++count;
    if (std::isfinite(value)) {
      ++finite;
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
    if (std::isnan(value)) {
      ++nan;
    } else if (search->is_below(value)) {
      ++below;
    } else if (search->is_above(value)) {
      ++above;
    } else {
      ++bins[search->bin_of(value)];
    }
  }

  void merge(const Counts& other) {
    for (std::size_t i = 0; i < bins.size(); ++i) bins[i] += other.bins[i];
    below += other.below;
    above += other.above;
    nan += other.nan;
    count += other.count;
    finite += other.finite;
    distances += other.distances;
    squares += other.squares;
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
  }
};

/// Returns an estimate of the mean of the finite values. It only affects the accuracy of the check.
long double mean_by(const Histogram& found) {
  long double sum = 0, count = 0;
  for (std::size_t i = 0; i < found.counts.size(); ++i) {
    const auto held = static_cast<long double>(found.counts[i]);
    sum += held * (static_cast<long double>(found.edges[i]) + found.edges[i + 1]) / 2;
    count += held;
  }
  return count == 0 ? 0 : sum / count;
}

/// The standard deviation, and a bound on its error plus that of the one in histogram(). The latter
/// is explained in verify/reduce.cpp; here it is for up to 2^32 tiles.
struct BoundedDeviation {
  long double value, bound;
};

BoundedDeviation deviation_of(const Counts& seen) {
  if (!seen.center || seen.finite == 0) return {0, 0};
  const auto count = static_cast<long double>(seen.finite);
  const long double offset = seen.distances / count;
  const long double spread = seen.squares / count;
  const long double deviation = std::sqrt(std::max(0.0L, spread - offset * offset));
  const long double rms = std::hypot(deviation, *seen.center + offset);
  const long double of_squares = 0x1p-46L * spread + 0x1p-1068L;  // the latter for underflow
  return {deviation,
          0x1p-44L * (deviation + 12 * rms) + of_squares / (deviation + std::sqrt(of_squares))};
}

/// Throws unless a rule gives the number of bins that was found. Rounding may add or remove one bin
/// if the range is nearly a multiple of their width.
void check_rule(const Source& source, BinRule rule, ElementType type, const Counts& seen,
                long double iqr) {
  const auto count = static_cast<long double>(seen.finite);
  const long double range = static_cast<long double>(seen.highest) - seen.lowest;
  const bool of_integers =
      visit(type, []<class T>(std::type_identity<T>) { return std::is_integral_v<T>; });
  const auto bins_of = [&](long double width, long double rounding) {
    const long double wide = of_integers && width > 0 ? std::max(width, 1.0L) : width;
    return wide > 0 && range > 0 ? std::ceil(range / wide * (1 + rounding)) : 1.0L;
  };
  constexpr long double rounding = 0x1p-49L;
  long double width = range / std::sqrt(count), error = 0;
  if (rule == BinRule::sturges) width = range / (std::log2(count) + 1);
  if (rule == BinRule::fd || rule == BinRule::automatic) {
    const long double by_fd = 2 * iqr / std::cbrt(count);
    const long double by_sturges = range / (std::log2(count) + 1);
    width = rule == BinRule::fd ? by_fd : std::min(std::max(by_fd, width / 2), by_sturges);
  }
  if (rule == BinRule::scott) {
    const auto [deviation, bound] = deviation_of(seen);
    const long double factor = std::cbrt(24 * std::sqrt(std::numbers::pi_v<long double>) / count);
    width = factor * deviation;
    error = factor * bound;
  }
  const auto found = static_cast<long double>(seen.bins.size());
  const bool any = width <= error && range > 0 && !(of_integers && found > range);
  if (found >= bins_of(width + error, -rounding) &&
      (any || found <= bins_of(width - error, rounding)))
    return;
  require_same(source, "the number of bins", int128{seen.bins.size()},
               static_cast<int128>(bins_of(width, 0)));
}

/// Returns the distance of the quartiles, which a check of their own proves.
long double checked_iqr(Coordinator& coordinator, const Source& source, const PassOptions& wanted) {
  const QuantileOptions options{.q = {0.25, 0.75}, .nan = NanPolicy::omit};
  const PassOptions alone{.stop = wanted.stop, .progress = wanted.progress};
  const Quantiles found = quantile(coordinator, source, options, alone).value;
  verify_quantile(coordinator, source, options, found, alone);
  const Scalar &low = found.quantiles[0].value, &high = found.quantiles[1].value;
  return low.has_value() ? static_cast<long double>(high.value() - low.value()) : 0;
}

void check_counts(const Source& source, const Counts& seen, const Histogram& found) {
  const auto check = [&](const std::string& name, std::uint64_t in_result, std::uint64_t checked) {
    require_same(source, name, int128{in_result}, int128{checked});
  };
  check("count", found.count, seen.count);
  check("nan", found.nan, seen.nan);
  check("below", found.below, seen.below);
  check("above", found.above, seen.above);
  for (std::size_t i = 0; i < seen.bins.size(); ++i) {
    check("counts[" + std::to_string(i) + "]", found.counts[i], seen.bins[i]);
  }
}

}  // namespace

void verify_histogram(Coordinator& coordinator, const Source& source,
                      const HistogramOptions& options, const Histogram& found,
                      const PassOptions& wanted) {
  const bool given = options.range || !options.edges.empty();
  if (source.bytes() == 0 && !given) {  // such a result has no bins
    require_same(source, "the number of bins", int128{found.counts.size()}, int128{0});
    require_same(source, "the number of edges", int128{found.edges.size()}, int128{0});
    return check_counts(source, {}, found);
  }
  plain::check_shape(source, options, {found.counts.size(), found.edges.size()});
  const std::optional<BinRule> rule =
      options.edges.empty() ? options.bins.rule() : std::optional<BinRule>{};
  const bool by_quartiles = rule == BinRule::fd || rule == BinRule::automatic;
  const long double iqr = by_quartiles ? checked_iqr(coordinator, source, wanted) : 0;
  const Reservation reservation = reserve(coordinator);
  const ElementType type = source.type().value_or(DType{}).element;
  std::optional<long double> center;
  if (rule == BinRule::scott) center = mean_by(found);
  const plain::BinSearch search(options, found.edges);
  const Counts nothing_seen{
      .search = &search, .bins = std::vector<std::uint64_t>(found.counts.size()), .center = center};
  const Counts seen = visit(type, [&]<class T>(std::type_identity<T>) {
    return plain::look_at_all<T>(coordinator.options(), wanted, source, nothing_seen);
  });
  if (rule) check_rule(source, *rule, type, seen, iqr);
  plain::check_edges(source, options, plain::range_for(options, type, seen.lowest, seen.highest),
                     found.edges);
  check_counts(source, seen, found);
}

}  // namespace ooc
