#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ooc_run {

/// A mark on an axis and its label.
struct Tick {
  double value;
  std::string label;
};

/// The scale of bars: the position of a height, from 0 to 1, and ticks at so many intervals at
/// most.
struct Scale {
  std::function<double(double)> position{};
  std::function<std::vector<Tick>(int)> ticks{};
};

/// Returns a readable distance between ticks: the smallest of 1, 2, 2.5 and 5 times a power of ten
/// that is at least `least`, which is positive.
double round_step(double least);

/// Returns at least two ticks at round values from `lower` to `upper`, with at most `intervals`
/// intervals between them. If there are fewer than two round values, returns both ends.
std::vector<Tick> round_ticks(double lower, double upper, int intervals);

/// Returns labels for ascending values. All have the same number of digits, the smallest with which
/// each label differs from its value by at most a twentieth of the distance to its neighbour and
/// half a percent of the axis.
std::vector<std::string> tick_labels(std::span<const double> points);

/// An axis of values between two ends, linear or logarithmic.
class ValueAxis {
 public:
  /// `logarithmic`: both ends are positive.
  ValueAxis(double lower, double upper, bool logarithmic)
      : lower_(lower), upper_(upper), logarithmic_(logarithmic) {}

  /// Returns the position of a value on the axis, from 0 to 1.
  double position(double value) const;

  /// Returns ticks with at most `intervals` intervals, at round values. A logarithmic axis that has
  /// enough powers of ten has ticks at these.
  std::vector<Tick> ticks(int intervals) const;

 private:
  double lower_, upper_;
  bool logarithmic_;
};

/// An axis of counts up to `end`, linear from 0 or logarithmic from 0.5, so that 0 has no length
/// and 1 is visible.
class CountAxis {
 public:
  CountAxis(double end, bool logarithmic) : end_(end), logarithmic_(logarithmic) {}

  /// Returns an axis that ends at the last of `ticks(intervals)`, the first one not below `most`.
  static CountAxis up_to(std::uint64_t most, bool logarithmic, int intervals);

  /// Returns the position of a count on the axis, from 0 to 1.
  double position(double count) const;

  /// Returns ticks at 0 and at round counts up to the end, with at most `intervals` intervals. A
  /// logarithmic axis has ticks at powers of ten from 1 on, or at round counts below 10, of which
  /// there may be none. Labels are digits ("250,000"); if the largest would be too long, labels
  /// have a unit ("2.5 M").
  std::vector<Tick> ticks(int intervals) const;

 private:
  double end_;
  bool logarithmic_;
};

}  // namespace ooc_run
