#include "draw/sum_groups.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace ooc_run {
namespace {

ooc::Scalar added(const ooc::Scalar& one, const ooc::Scalar& other) {
  if (!one.is_integer()) return one.value() + other.value();
  return std::get<ooc::int128>(one) + std::get<ooc::int128>(other);
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

std::vector<ooc::Scalar> group_sums(const std::vector<ooc::Scalar>& sums, std::size_t each) {
  std::vector<ooc::Scalar> groups;
  for (std::size_t bin = 0; bin < sums.size(); ++bin) {
    if (bin % each == 0) {
      groups.push_back(sums[bin]);
    } else {
      groups.back() = added(groups.back(), sums[bin]);
    }
  }
  return groups;
}

bool have_bars(const std::vector<ooc::Scalar>& sums) {
  return std::ranges::all_of(
      sums, [](const ooc::Scalar& sum) { return sum.value() >= 0 && std::isfinite(sum.value()); });
}

}  // namespace ooc_run
