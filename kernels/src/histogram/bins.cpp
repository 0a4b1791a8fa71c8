#include "histogram/bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace ooc::detail::binning {

namespace {

using Range = HistogramOptions::Range;

std::string in_words(Range range) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << range.lower << " to " << range.upper;
  return text.str();
}

void check_edges(const std::vector<double>& edges) {
  if (edges.size() < 2 || edges.size() > max_bins + 1) {
    throw Error(ErrorKind::usage, std::to_string(edges.size()) + " edges of bins; between 2 and " +
                                      std::to_string(max_bins + 1) + " make sense");
  }
  if (!std::all_of(edges.begin(), edges.end(), [](double edge) { return std::isfinite(edge); })) {
    throw Error(ErrorKind::usage, "the edges of the bins must be finite",
                {.why = "values beyond the first and last edge are counted as below and above"});
  }
  if (!std::is_sorted(edges.begin(), edges.end())) {
    throw Error(ErrorKind::usage, "the edges of the bins must rise");
  }
}

/// Throws Error(usage) if a rule is combined with what it excludes.
void check_rule(const HistogramOptions& options) {
  if (options.range) {
    throw Error(ErrorKind::usage, "a rule for the number of bins and a range exclude each other",
                {.why = "NumPy's rules look at the values in the range alone, but the statistics "
                        "that they need are of all values",
                 .remedies = {{RemedyAction::unset, "HistogramOptions::range"},
                              {RemedyAction::set, "HistogramOptions::bins"}}});
  }
  if (options.logarithmic) {
    throw Error(ErrorKind::usage,
                "a rule for the number of bins and logarithmic bins exclude each other",
                {.why = "the rules are for bins of equal width",
                 .remedies = {{RemedyAction::set, "HistogramOptions::bins"}}});
  }
}

/// Returns `intervals` + 1 equally spaced numbers from `first` to `last`, computed as by
/// numpy.linspace. Where they are so close that numpy.histogram fails, another order of operations
/// rounds less coarsely.
std::vector<double> evenly_spaced(double first, double last, std::size_t intervals) {
  const double count = static_cast<double>(intervals);
  const double width = last - first;
  const double step = width / count;
  const bool close = !std::isfinite(count / width);
  std::vector<double> points(intervals + 1);
  for (std::size_t i = 0; i < intervals; ++i) {
    const double index = static_cast<double>(i);
    points[i] = (close ? index / count * width : index * step) + first;
  }
  points.back() = last;
  return points;
}

/// Returns numbers from `first` to `last` at equal ratios, clamped so that rounding cannot make the
/// sequence decrease.
std::vector<double> logarithmically_spaced(double first, double last, std::size_t intervals) {
  std::vector<double> points = evenly_spaced(std::log10(first), std::log10(last), intervals);
  double previous = first;
  for (double& point : points) {
    previous = point = std::clamp(std::pow(10.0, point), previous, last);
  }
  points.front() = first;
  points.back() = last;
  return points;
}

/// Throws unless every bin has a width, as numpy.histogram does since version 2.
void require_widths(const std::vector<double>& edges, Range range, ErrorKind kind) {
  const auto has_no_width = [](double lower, double upper) { return lower >= upper; };
  if (std::ranges::adjacent_find(edges, has_no_width) == edges.end()) return;
  throw Error(
      kind, std::to_string(edges.size() - 1) + " bins do not fit into the range " + in_words(range),
      {.why = "in double precision some of them would have no width: the range is too narrow",
       .remedies = {{RemedyAction::lower, "HistogramOptions::bins"},
                    {RemedyAction::set, "HistogramOptions::range"}}});
}

}  // namespace

void check(const HistogramOptions& options) {
  if (!options.edges.empty()) return check_edges(options.edges);
  if (options.bins.rule()) return check_rule(options);
  const std::size_t bins = options.bins.number();
  if (bins == 0 || bins > max_bins) {
    throw Error(ErrorKind::usage, std::to_string(bins) + " bins were asked for",
                {.hint = "a histogram has between 1 and " + std::to_string(max_bins) + " bins"});
  }
  if (!options.range) return;
  const Range range = *options.range;
  if (!std::isfinite(range.lower) || !std::isfinite(range.upper)) {
    throw Error(ErrorKind::usage, "the range " + in_words(range) + " is not finite");
  }
  if (range.lower > range.upper) {
    throw Error(ErrorKind::usage, "the range " + in_words(range) + " is reversed",
                {.hint = "give the lower end first"});
  }
  make_bins(options, range, ErrorKind::usage);
}

Bins make_bins(const HistogramOptions& options, Range range, ErrorKind kind) {
  if (!options.edges.empty()) return {options.edges};
  if (range.lower == range.upper) range = {range.lower - 0.5, range.upper + 0.5};
  // Adding +0 turns -0 into +0, so that the edges do not depend on which of them the data holds.
  range = {range.lower + 0.0, range.upper + 0.0};
  const double width = range.upper - range.lower;
  if (!(width > 0) || !std::isfinite(width)) {
    throw Error(kind, "no bins fit into the range " + in_words(range),
                {.why = width > 0 ? "its width overflows double precision"
                                  : "in double precision it has no width",
                 .remedies = {{RemedyAction::set, "HistogramOptions::range"}}});
  }
  const std::size_t bins = options.bins.number();
  if (options.logarithmic) {
    if (!(range.lower > 0)) {
      throw Error(kind, "logarithmic bins need a range above zero, not " + in_words(range),
                  {.remedies = {{RemedyAction::set, "HistogramOptions::range"}}});
    }
    Bins found{logarithmically_spaced(range.lower, range.upper, bins)};
    require_widths(found.edges, range, kind);
    return found;
  }
  Bins found{evenly_spaced(range.lower, range.upper, bins)};
  require_widths(found.edges, range, kind);
  const double count = static_cast<double>(bins);
  const double scale = count / width;
  if (std::isfinite(scale)) {  // not if bins are narrower than the smallest normal numbers
    found.even = EvenBins{
        {static_cast<std::int32_t>(bins) - 1}, range.lower, range.upper, width / count, scale};
  }
  return found;
}

}  // namespace ooc::detail::binning
