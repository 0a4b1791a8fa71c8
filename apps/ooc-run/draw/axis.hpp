#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ooc_run {

/// A mark on an axis and what is written there.
struct Tick {
  double place;
  std::string label;
};

/// The least of 1, 2, 2.5 and 5 times a power of ten that is not below `least`, which is positive:
/// the distance of ticks that people like to read.
double round_step(double least);

/// Ticks at round places from `lower` to `upper`, at least two: `intervals` or fewer lie between
/// the first and the last. Where nothing round lies there, the two ends.
std::vector<Tick> round_ticks(double lower, double upper, int intervals);

/// Labels for places that rise: as few digits, the same for all, as put each within a twentieth of
/// the distance to its neighbour, and half a percent of the axis, of its place.
std::vector<std::string> place_labels(std::span<const double> places);

/// An axis of values, between two ends, in proportion or logarithmic.
class ValueAxis {
 public:
  /// `logarithmic`: both ends are positive.
  ValueAxis(double lower, double upper, bool logarithmic)
      : lower_(lower), upper_(upper), logarithmic_(logarithmic) {}

  /// From 0 to 1.
  double place(double value) const;

  /// At round values, or at powers of ten where there are some: `intervals` or fewer.
  std::vector<Tick> ticks(int intervals) const;

 private:
  double lower_, upper_;
  bool logarithmic_;
};

/// An axis of counts, from 0 to `end`, in proportion or logarithmic. The latter shows
/// log(1 + count): nothing has no length, and one has some.
class CountAxis {
 public:
  CountAxis(double end, bool logarithmic) : end_(end), logarithmic_(logarithmic) {}

  /// An axis that ends at its last tick of `ticks(intervals)`, the only one that is at least
  /// `most`.
  static CountAxis up_to(std::uint64_t most, bool logarithmic, int intervals);

  /// From 0 to 1.
  double place(double count) const;

  /// At 0 and at round counts up to the end: `intervals` or fewer. A logarithmic axis has ticks at
  /// powers of ten from 1 on, and at 0 if there is room. Labels are digits ("250,000"); if the
  /// largest would be too long, all labels have a unit ("2.5 M").
  std::vector<Tick> ticks(int intervals) const;

 private:
  double end_;
  bool logarithmic_;
};

}  // namespace ooc_run
