#include "draw/sum_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "result/report.hpp"

namespace ooc_run {
namespace {

/// Returns the sum of exact integers.
SumGroup group_of_integers(std::span<const ooc::Scalar> sums) {
  ooc::int128 total = 0;
  for (const ooc::Scalar& sum : sums) total += std::get<ooc::int128>(sum);
  return {static_cast<double>(total), format_number(total)};
}

/// Returns the sum of doubles that were rounded, each by up to 2^-53 of it.
SumGroup group_of_floats(std::span<const ooc::Scalar> sums) {
  long double total = 0, magnitude = 0;  // whose range no such sum leaves
  for (const ooc::Scalar& sum : sums) {
    total += sum.value();
    magnitude += std::abs(static_cast<long double>(sum.value()));
  }
  if (!std::isfinite(total)) {
    const auto value = static_cast<double>(total);
    return {value, format_number(value)};
  }
  constexpr long double largest = std::numeric_limits<double>::max();
  const auto value = static_cast<double>(std::clamp(total, -largest, largest));
  const long double error = 0x1p-52L * magnitude;
  constexpr long double six_digits = 1e7L;
  if (std::abs(total) >= six_digits * error) return {value, fmt::format("{:.6g}", total)};
  return {value, fmt::format("{:.1g} ± {:.0g}", total, error)};
}

}  // namespace

Scale scale_of_sums(double highest, int intervals) {
  if (!(highest > 0)) {
    return {[](double) { return 0.0; }, [](int) { return std::vector<Tick>{{0, "0"}}; }};
  }
  const double step = round_step(highest / intervals);
  const double end = step * std::ceil(highest / step);
  const ValueAxis axis(0, std::isfinite(end) ? end : highest, false);
  return {[axis](double height) { return axis.position(height); },
          [axis](int most) { return axis.ticks(most); }};
}

std::vector<SumGroup> group_sums(std::span<const ooc::Scalar> sums, std::size_t each) {
  std::vector<SumGroup> groups;
  for (std::size_t bin = 0; bin < sums.size(); bin += each) {
    const auto some = sums.subspan(bin, std::min(each, sums.size() - bin));
    if (some.size() == 1) {
      groups.push_back({some.front().value(), format_number(some.front())});
    } else {
      groups.push_back(some.front().is_integer() ? group_of_integers(some) : group_of_floats(some));
    }
  }
  return groups;
}

bool have_bars(std::span<const SumGroup> sums) {
  return std::ranges::all_of(
      sums, [](const SumGroup& sum) { return sum.value >= 0 && std::isfinite(sum.value); });
}

}  // namespace ooc_run
