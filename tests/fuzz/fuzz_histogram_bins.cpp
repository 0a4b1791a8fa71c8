// An input is a range or a list of edges, and some values. However close the edges are, each value
// must be counted in the bin whose edges enclose it. For bins of equal width this must be the bin
// that NumPy computes.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "histogram/bins.hpp"
#include "input.hpp"

namespace ooc::detail::fuzz {
namespace {

using binning::Bins;

constexpr std::uint64_t most_bins = 300;
constexpr double infinity = std::numeric_limits<double>::infinity();

double take_number(Numbers& numbers) {
  return std::bit_cast<double>(numbers.between(0, UINT64_MAX));
}

/// Takes any number, or one that few other numbers separate from `other`.
double take_number_near(Numbers& numbers, double other) {
  if (numbers.between(0, 1) == 0) return take_number(numbers);
  const std::uint64_t steps = numbers.between(0, UINT16_MAX);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(other) + steps);
}

HistogramOptions take_options(Numbers& numbers) {
  HistogramOptions options;
  const std::uint64_t kind = numbers.between(0, 2);
  options.bins = numbers.between(1, most_bins);
  options.logarithmic = kind == 1;
  const double lower = take_number(numbers);
  if (kind < 2) {
    options.range = {lower, take_number_near(numbers, lower)};
  } else {
    options.edges = {lower};
    const std::uint64_t more = numbers.between(1, 20);
    for (std::uint64_t i = 0; i < more; ++i) {
      options.edges.push_back(take_number_near(numbers, options.edges.back()));
    }
  }
  return options;
}

/// Finds the bin of a value within the edges as numpy.histogram does.
std::size_t bin_by_numpy(const Bins& bins, double value) {
  const std::size_t last = bins.size() - 1;
  const double place = (value - bins.edges.front()) * bins.even->scale;
  std::size_t index = std::min(static_cast<std::size_t>(place), last);
  if (value < bins.edges[index]) --index;
  if (value >= bins.edges[index + 1] && index != last) ++index;
  return index;
}

void check_value(const Bins& bins, double value) {
  const std::size_t counter = visit(bins, [&](auto kind) { return kind.bin_of(value); });
  const std::size_t size = bins.size();
  if (std::isnan(value)) return require(counter == size + 2, "NaN has a counter of its own");
  if (value < bins.edges.front()) return require(counter == size, "below");
  if (value > bins.edges.back()) return require(counter == size + 1, "above");
  require(counter < size, "what is inside has a bin");
  require(bins.edges[counter] <= value && value <= bins.edges[counter + 1], "between its edges");
  if (bins.even) {
    require(counter == bin_by_numpy(bins, value), "the bin that NumPy finds");
  } else {
    require(value < bins.edges[counter + 1] || counter == size - 1, "the last edge alone is in");
  }
}

}  // namespace
}  // namespace ooc::detail::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc;
  using namespace ooc::detail;
  fuzz::Numbers numbers({data, size});
  const HistogramOptions options = fuzz::take_options(numbers);
  binning::Bins bins;
  try {
    binning::check(options);
    bins = binning::make_bins(options, options.range.value_or(HistogramOptions::Range{}),
                              ErrorKind::usage);
  } catch (const Error&) {
    return 0;  // there are no such bins
  }
  fuzz::require(options.edges.empty() ? bins.size() == options.bins : bins.edges == options.edges,
                "as many bins as were asked for");
  fuzz::require(std::ranges::is_sorted(bins.edges), "edges do not fall");
  for (const double edge : bins.edges) {
    fuzz::check_value(bins, edge);
    fuzz::check_value(bins, std::nextafter(edge, -fuzz::infinity));
    fuzz::check_value(bins, std::nextafter(edge, fuzz::infinity));
  }
  for (const double value : {0.0, -0.0, fuzz::infinity, -fuzz::infinity, std::nan("")}) {
    fuzz::check_value(bins, value);
  }
  for (int i = 0; i < 8; ++i) {
    fuzz::check_value(bins, fuzz::take_number_near(numbers, bins.edges[bins.size() / 2]));
  }
  return 0;
}
