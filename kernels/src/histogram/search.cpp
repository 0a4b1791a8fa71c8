#include "histogram/search.hpp"

#include <ooc/error.hpp>
#include <ooc/histogram.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "histogram/position.hpp"

namespace ooc::detail::quantiles {

namespace {

Error changed() {
  return {ErrorKind::input_changed,
          "the input changed while it was read",
          {.why = "a later pass found values that the one before did not",
           .hint = "compute quantiles when no program writes to it"}};
}

std::uint32_t bits_of(ElementType type) {
  return static_cast<std::uint32_t>(8 * size_of(type));
}

/// Returns the ranges that begin with these keys, each once.
binning::KeyRanges ranges_from(std::vector<std::uint64_t> firsts, std::uint32_t shift,
                               std::uint32_t bits) {
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  binning::KeyRanges ranges{.shift = shift, .bits = bits, .firsts = std::move(firsts)};
  for (const std::uint64_t first : ranges.firsts) {
    ranges.short_firsts.push_back(static_cast<std::uint32_t>(first));
  }
  return ranges;
}

/// Returns an element exactly: an integer, or as a double.
template <class T>
Scalar scalar_of(T element) {
  if constexpr (is_floating<T>)
    return to_double(element);
  else
    return static_cast<int128>(element);
}

}  // namespace

void check(const QuantileOptions& options) {
  const std::vector<double>& all = options.q;
  if (all.empty() || all.size() > max_quantiles) {
    throw Error(ErrorKind::usage, std::to_string(all.size()) + " quantiles were asked for",
                {.hint = "between 1 and " + std::to_string(max_quantiles) + " are found at once"});
  }
  if (std::ranges::all_of(all, [](double q) { return q >= 0 && q <= 1; })) return;
  throw Error(ErrorKind::usage, "a quantile is not between 0 and 1",
              {.hint = "0 is the minimum, 0.5 the median, 1 the maximum"});
}

Digits digits_for(std::uint32_t bits, const QuantileOptions& options) {
  constexpr auto most_bits = static_cast<std::uint32_t>(std::bit_width(max_bins) - 1);
  if (bits < most_bits) return {bits, 0, 1, std::size_t{1} << bits};
  const std::size_t elements_each = takes_element(options.method) ? 1 : 2;
  const std::size_t ranges = std::set(options.q.begin(), options.q.end()).size() * elements_each;
  const auto most_later = most_bits - static_cast<std::uint32_t>(std::bit_width(ranges - 1));
  const std::uint32_t later_passes = (bits - most_bits + most_later - 1) / most_later;
  const std::uint32_t later = std::min(most_later, (bits + later_passes) / (later_passes + 1));
  const std::uint32_t first = bits - later_passes * later;
  return {first, later, 1 + later_passes, std::max(std::size_t{1} << first, ranges << later)};
}

Search::Search(ElementType type, QuantileOptions options)
    : type_(type), options_(std::move(options)), digits_{} {
  check(options_);
  digits_ = digits_for(bits_of(type), options_);
  ranges_ = ranges_from({0}, bits_of(type) - digits_.first, digits_.first);
}

/// True if there are quantiles to look for: neither no values, nor NaN that make all of them NaN.
bool Search::has_result() const {
  return count_ != nan_ && (nan_ == 0 || options_.nan == NanPolicy::omit);
}

void Search::take(const QuantileCounts& counts) {
  if (counts.counts.size() != ranges_.size()) {
    throw Error(ErrorKind::usage, "these counts are not of the next pass");
  }
  if (wanted_.empty())
    begin(counts);
  else
    check_unchanged(counts);
  narrow(counts);
  next_ranges();
}

/// Takes the number of values from the first pass, and with it the ranks.
void Search::begin(const QuantileCounts& counts) {
  count_ = counts.count;
  nan_ = counts.nan;
  if (!has_result()) return;
  std::set<std::uint64_t> ranks;
  for (const double q : options_.q) {
    const Position position = position_of(options_.method, q, count_ - nan_);
    ranks.insert({position.lower, position.upper});
  }
  for (const std::uint64_t rank : ranks) wanted_.push_back({rank, 0, rank, count_ - nan_});
}

void Search::check_unchanged(const QuantileCounts& counts) const {
  if (counts.count != count_ || counts.nan != nan_) throw changed();
}

/// Finds the bin of each wanted element, which is the range of the next pass. Changes nothing if
/// the counts are of other values.
void Search::narrow(const QuantileCounts& counts) {
  std::vector<Wanted> wanted = wanted_;
  std::size_t next = 0;  // number of wanted elements whose bin is found
  for (std::size_t range = 0; range < ranges_.firsts.size(); ++range) {
    const std::uint64_t first_key = ranges_.firsts[range];
    const auto is_here = [&] {
      return next < wanted.size() && wanted_[next].first_key == first_key;
    };
    const std::uint64_t expected = is_here() ? wanted[next].values_in_range : 0;
    std::uint64_t below = 0;
    for (std::size_t bin = 0; bin < (std::size_t{1} << ranges_.bits); ++bin) {
      const std::uint64_t held = counts.counts[(range << ranges_.bits) + bin];
      for (; is_here() && wanted_[next].rank_in_range < below + held; ++next) {
        wanted[next].first_key = first_key + (std::uint64_t{bin} << ranges_.shift);
        wanted[next].rank_in_range -= below;
        wanted[next].values_in_range = held;
      }
      below += held;
    }
    if (has_result() && (is_here() || below != expected)) throw changed();
  }
  wanted_ = std::move(wanted);
}

void Search::next_ranges() {
  std::vector<std::uint64_t> firsts;
  if (!is_last_pass()) {
    for (const Wanted& each : wanted_) firsts.push_back(each.first_key);
  }
  const std::uint32_t bits = std::min(digits_.later, ranges_.shift);
  ranges_ = ranges_from(std::move(firsts), ranges_.shift - bits, bits);
}

Scalar Search::element_at(std::uint64_t rank) const {
  const auto found = std::ranges::lower_bound(wanted_, rank, {}, &Wanted::rank);
  return visit(type_, [&]<class T>(std::type_identity<T>) {
    return scalar_of(binning::element_of<T>(static_cast<binning::KeyOf<T>>(found->first_key)));
  });
}

Quantiles Search::result() const {
  Quantiles result{.quantiles = {}, .count = count_, .nan = nan_};
  for (const double q : options_.q) {
    Quantile& quantile = result.quantiles.emplace_back(Quantile{.q = q});
    if (!has_result()) {
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      const bool is_nan = nan_ != 0 && options_.nan == NanPolicy::propagate;
      if (is_nan) quantile.value = quantile.lower = quantile.upper = none;
      continue;
    }
    const Position position = position_of(options_.method, q, count_ - nan_);
    quantile.lower = element_at(position.lower);
    quantile.upper = element_at(position.upper);
    quantile.value = quantile.lower;
    if (takes_element(options_.method)) continue;
    quantile.value = between(quantile.lower.value(), quantile.upper.value(), position.weight);
  }
  return result;
}

}  // namespace ooc::detail::quantiles
