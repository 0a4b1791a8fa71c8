#include "draw/axis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

/// Returns, for example, "2.5e9" or "-1e-7".
std::string scientific(double value, int digits) {
  if (value == 0) return "0";
  const std::string text = fmt::format("{:.{}e}", value, digits);  // "2.5e+09"
  const std::size_t letter = text.find('e');
  return fmt::format("{}e{}", text.substr(0, letter), std::atoi(text.c_str() + letter + 1));
}

struct CountUnit {
  double size;
  std::string_view suffix;
};

/// Returns the largest unit that is not larger than `count`.
CountUnit unit_of(double count) {
  constexpr std::array units{CountUnit{1e18, " E"}, CountUnit{1e15, " P"}, CountUnit{1e12, " T"},
                             CountUnit{1e9, " G"},  CountUnit{1e6, " M"},  CountUnit{1e3, " K"}};
  for (const CountUnit& unit : units) {
    if (count >= unit.size) return unit;
  }
  return {1, ""};
}

/// Returns, for example, "250,000" or "2.5 M".
std::string count_label(double count, const CountUnit& unit) {
  if (count == 0) return "0";
  if (unit.size == 1) return group_digits(fmt::format("{:.0f}", count));
  return fmt::format("{:g}{}", count / unit.size, unit.suffix);
}

/// Sets all labels in one notation: digits, or units if the largest count has too many digits. A
/// linear axis uses one unit, a logarithmic axis several.
void label_counts(std::vector<Tick>& ticks, bool logarithmic) {
  constexpr double longest = 1e7;
  const double most = ticks.empty() ? 0 : ticks.back().value;
  for (Tick& tick : ticks) {
    const CountUnit unit =
        most < longest ? CountUnit{1, ""} : unit_of(logarithmic ? tick.value : most);
    tick.label = count_label(tick.value, unit);
  }
}

/// Returns the number of steps per interval, so that `steps` make at most `intervals` intervals.
int stride_of(int steps, int intervals) {
  return std::max(1, (steps + intervals - 1) / intervals);
}

std::vector<Tick> powers_of_ten(int first, int decades, int intervals) {
  const int last = first + decades;
  const bool all_short = -4 <= first && last <= 5;  // 0.0001 to 100000
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; exponent += stride_of(decades, intervals)) {
    const double point = std::pow(10, exponent);
    ticks.push_back(
        {point, all_short ? fmt::format("{:g}", point) : fmt::format("1e{}", exponent)});
  }
  return ticks;
}

/// Returns the exponent of the smallest power of ten that is at least `count`, but at least 0.
int decades_up_to(double count) {
  int decades = 0;
  while (std::pow(10, decades) < count) ++decades;
  return decades;
}

/// Returns the distance between the ticks of a linear axis for counts up to `most`.
double count_step(double most, int intervals) {
  const double step = std::max(1.0, round_step(most / intervals));
  if (step >= 10) return step;
  return step > 2 ? 5 : step;  // not 2.5: counts are integers
}

/// True if a logarithmic axis has no whole decade. It then uses the ticks of a linear axis.
bool is_below_a_decade(double most) {
  constexpr double decade = 10;
  return most < decade;
}

}  // namespace

double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

std::vector<Tick> round_ticks(double lower, double upper, int intervals) {
  // Compute with halves, because the length of the axis may overflow a double.
  const double step = round_step((upper / 2 - lower / 2) / (intervals / 2.0));
  std::vector<double> points;
  for (int i = 0; i <= intervals && step > 0; ++i) {
    const double point = step * (std::ceil(lower / step) + i);
    if (!(point <= upper)) break;
    // On an axis far from 0, rounding may make two ticks equal, or put one before the axis begins.
    if (point >= lower && (points.empty() || point > points.back())) points.push_back(point);
  }
  if (points.size() < 2) points = {lower, upper};
  const std::vector<std::string> labels = tick_labels(points);
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < points.size(); ++i) ticks.push_back({points[i], labels[i]});
  return ticks;
}

std::vector<std::string> tick_labels(std::span<const double> points) {
  const auto all_near = [&](const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t left = i == 0 ? 0 : i - 1;
      const double distance = points[left + 1] - points[left];
      const double half_axis = points.back() / 2 - points.front() / 2;
      const double far = std::abs(std::strtod(labels[i].c_str(), nullptr) - points[i]);
      if (!(far <= std::min(distance / 20, half_axis / 100))) return false;
    }
    return true;
  };
  std::vector<std::string> labels(points.size());
  constexpr double longest_fixed = 1e7;
  if (std::ranges::all_of(points, [](double x) { return std::abs(x) < longest_fixed; })) {
    for (int digits = 0; digits <= 6; ++digits) {
      std::ranges::transform(points, labels.begin(),
                             [&](double x) { return fmt::format("{:.{}f}", x + 0.0, digits); });
      if (all_near(labels)) return labels;
    }
  }
  for (int digits = 0; digits <= 16; ++digits) {
    std::ranges::transform(points, labels.begin(),
                           [&](double x) { return scientific(x + 0.0, digits); });
    if (all_near(labels)) break;
  }
  return labels;
}

double ValueAxis::position(double value) const {
  if (!(lower_ < upper_)) return 0.5;
  if (!logarithmic_) {
    const double length = upper_ - lower_;
    if (std::isfinite(length)) return (value - lower_) / length;
    // Halves avoid the overflow. They are not always used, because they underflow on a tiny axis.
    return (value / 2 - lower_ / 2) / (upper_ / 2 - lower_ / 2);
  }
  return (std::log(value) - std::log(lower_)) / (std::log(upper_) - std::log(lower_));
}

std::vector<Tick> ValueAxis::ticks(int intervals) const {
  constexpr int least_decades = 2;
  if (logarithmic_) {
    const int first = static_cast<int>(std::ceil(std::log10(lower_)));
    const int decades = static_cast<int>(std::floor(std::log10(upper_))) - first;
    if (decades >= least_decades) return powers_of_ten(first, decades, intervals);
  }
  return round_ticks(lower_, upper_, intervals);
}

CountAxis CountAxis::up_to(std::uint64_t most, bool logarithmic, int intervals) {
  const auto count = static_cast<double>(most);
  if (most == 0) return {0, logarithmic};
  if (!logarithmic || is_below_a_decade(count)) {
    const double step = count_step(count, intervals);
    return {step * std::ceil(count / step), logarithmic};
  }
  const int decades = decades_up_to(count);
  const int stride = stride_of(decades, intervals);
  const int strides = (decades + stride - 1) / stride;
  return {std::pow(10, strides * stride), logarithmic};
}

double CountAxis::position(double count) const {
  if (end_ <= 0 || count <= 0) return 0;
  constexpr double begin = 0.5;  // of a logarithmic axis, so that a count of 1 has a bar
  if (!logarithmic_) return count / end_;
  return std::max(0.0, std::log(count / begin) / std::log(end_ / begin));
}

std::vector<Tick> CountAxis::ticks(int intervals) const {
  std::vector<Tick> ticks{{0, "0"}};
  if (end_ <= 0) return ticks;
  if (logarithmic_) ticks.clear();  // it has no 0
  if (!logarithmic_ || is_below_a_decade(end_)) {
    const double step = count_step(end_, intervals);
    for (int i = 1; i * step <= end_; ++i) ticks.push_back({i * step, {}});
    label_counts(ticks, false);
    return ticks;
  }
  int decades = decades_up_to(end_);
  if (std::pow(10, decades) > end_) --decades;
  for (int decade = 0; decade <= decades; decade += stride_of(decades, intervals)) {
    ticks.push_back({std::pow(10, decade), {}});
  }
  label_counts(ticks, true);
  return ticks;
}

}  // namespace ooc_run
