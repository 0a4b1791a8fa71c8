#include "histogram_2d/choose_bins.hpp"

#include <ooc/error.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "histogram/counted.hpp"
#include "histogram/find_bins.hpp"

namespace ooc::detail::pairs {

namespace {

using binning::Bins;
using binning::Extremes;

std::size_t number_of_bins(const HistogramOptions& options) {
  return options.edges.empty() ? options.bins.number() : options.edges.size() - 1;
}

/// Returns the bins of an axis, if they are known. Those of bytes are not: the range of their type
/// would leave most cells empty.
std::optional<Bins> known_bins(const Axis& axis) {
  if (!axis.bins.range && axis.bins.edges.empty()) return {};
  return binning::known_bins(axis.type, axis.bins);
}

/// Returns the options with a range. Throws Error(bad_input) that names the axis.
HistogramOptions options_over(const Extremes& numbers, const Axis& axis) {
  if (known_bins(axis)) return axis.bins;
  try {
    return binning::bins_over(numbers, axis.bins, axis.type, axis.path).options;
  } catch (const Error& error) {
    throw Error(error.kind(), axis.name + ": " + error.what(), error.details());
  }
}

/// Returns what is known of the bins, for the question of an operator.
std::string described(const Axis& axis) {
  const std::string type(name_of(axis.type));
  if (const auto bins = known_bins(axis)) return type + " in " + binning::described(*bins);
  return type + " in " + std::to_string(axis.bins.bins.number()) +
         (axis.bins.logarithmic ? " logarithmic bins" : " bins");
}

}  // namespace

CellNumbers cells_of(const HistogramOptions& x, const HistogramOptions& y) {
  for (const HistogramOptions* const options : {&x, &y}) {
    if (options->edges.empty() && options->bins.rule()) {
      throw Error(ErrorKind::usage, "a rule for the number of bins is for one axis",
                  {.why = "it says how many bins show the values of that axis alone",
                   .remedies = {{RemedyAction::set, "HistogramOptions::bins"}}});
    }
    binning::check(*options);
  }
  const std::size_t columns = number_of_bins(x), rows = number_of_bins(y);
  if (columns * rows <= max_cells) {
    return {static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows)};
  }
  throw Error(ErrorKind::usage,
              std::to_string(columns) + " times " + std::to_string(rows) + " cells",
              {.why = "a histogram of pairs has at most " + std::to_string(max_cells),
               .remedies = {{RemedyAction::lower, "HistogramOptions::bins"}}});
}

std::optional<std::array<Bins, 2>> known_bins(const Axes& axes) {
  auto x = known_bins(axes[0]), y = known_bins(axes[1]);
  if (!x || !y) return {};
  return std::array{*std::move(x), *std::move(y)};
}

ChosenPairBins bins_over(const SurveyOf<2>& survey, const Axes& axes) {
  const auto& [x, y] = survey.extremes;
  const auto infinite = [](const Extremes& numbers) {
    return numbers.negative_infinities + numbers.positive_infinities;
  };
  const bool is_any_known = known_bins(axes[0]) || known_bins(axes[1]);
  return {.x = options_over(x, axes[0]),
          .y = options_over(y, axes[1]),
          .least_nan = std::max(x.nan, y.nan),
          .most_nan = x.nan + y.nan,
          .most_outside = is_any_known ? survey.pairs : infinite(x) + infinite(y)};
}

void check_unchanged(const Histogram2d& found, const ChosenPairBins& chosen, bool partial,
                     const std::filesystem::path& path) {
  const bool more_nan = found.nan > chosen.most_nan;
  const bool fewer_nan = !partial && found.nan < chosen.least_nan;
  const bool more_outside = found.outside > chosen.most_outside;
  if (more_nan || fewer_nan || more_outside) throw binning::input_changed(path);
}

ChoosePairBins::ChoosePairBins(Axes axes) : axes_(std::move(axes)) {
  if (!known_bins(axes_)) return;
  throw Error(ErrorKind::usage, "these bins do not depend on the data",
              {.hint = "call collect_histogram_2d()"});
}

std::string ChoosePairBins::question() const {
  return described(axes_[0]) + " and " + described(axes_[1]);
}

}  // namespace ooc::detail::pairs
