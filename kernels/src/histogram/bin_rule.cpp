#include "histogram/bin_rule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace ooc::detail::binning {

namespace {

/// Returns the width of the bins before it is rounded to divide the range. The order of operations
/// is NumPy's.
double width_by(BinRule rule, const Sample& sample) {
  const double range = sample.highest - sample.lowest;
  const auto count = static_cast<double>(sample.count);
  const double by_sqrt = range / std::sqrt(count);
  const double by_sturges = range / (std::log2(count) + 1.0);
  const double by_fd = 2.0 * sample.iqr * std::pow(count, -1.0 / 3.0);
  switch (rule) {
    case BinRule::sqrt: return by_sqrt;
    case BinRule::sturges: return by_sturges;
    case BinRule::scott: break;
    case BinRule::fd: return by_fd;
    case BinRule::automatic: return std::min(std::max(by_fd, by_sqrt / 2.0), by_sturges);
  }
  const double root_of_pi = std::sqrt(std::numbers::pi);
  return std::pow(24.0 * root_of_pi / count, 1.0 / 3.0) * sample.stddev;
}

}  // namespace

double bins_by(BinRule rule, const Sample& sample) {
  const double range = sample.highest - sample.lowest;
  // If all values are equal, rounding of the mean could give a standard deviation above 0. If the
  // range overflows, there are no bins: make_bins() throws.
  if (range == 0 || std::isinf(range)) return 1;
  const double width = width_by(rule, sample);
  if (!(width > 0)) return 1;
  return std::ceil(range / (sample.of_integers ? std::max(width, 1.0) : width));
}

std::size_t likely_bins(const HistogramOptions& options, ElementType type, std::uint64_t elements) {
  if (!options.edges.empty()) return options.edges.size() - 1;
  const auto rule = options.bins.rule();
  if (!rule) return options.bins.number();
  if (elements == 0) return 1;
  // In standard deviations, if values are normal.
  constexpr double normal_range = 12, normal_iqr = 1.35;
  const bool are_few = are_integers(type) && size_of(type) <= 2;  // at most 65,536 different values
  const double most = are_few ? std::exp2(8 * size_of(type)) : max_bins;
  return static_cast<std::size_t>(
      std::min(most, bins_by(*rule, {elements, 0, normal_range, 1, false, normal_iqr})));
}

QuantileOptions quartiles() {
  return {.q = {0.25, 0.75}, .nan = NanPolicy::omit};
}

bool needs_quartiles(const HistogramOptions& options) {
  if (!options.edges.empty()) return false;
  return options.bins.rule() == BinRule::fd || options.bins.rule() == BinRule::automatic;
}

bool are_integers(ElementType type) {
  return ooc::visit(type, []<class T>(std::type_identity<T>) { return !is_floating<T>; });
}

std::string_view name_of(BinRule rule) {
  switch (rule) {
    case BinRule::sqrt: return "sqrt";
    case BinRule::sturges: return "sturges";
    case BinRule::scott: return "scott";
    case BinRule::fd: return "fd";
    case BinRule::automatic: return "auto";
  }
  return {};
}

}  // namespace ooc::detail::binning
