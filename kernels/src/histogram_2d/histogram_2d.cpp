#include <ooc/histogram_2d.hpp>

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/operators/passes.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/dry_run_passes.hpp"
#include "histogram/find_bins.hpp"
#include "histogram_2d/operators.hpp"
#include "histogram_2d/pairs.hpp"

namespace ooc {

using namespace detail;
using namespace detail::pairs;
namespace {

using binning::Bins;
using binning::Extremes;

/// Both axes, of which the first is that of x.
using Axes = std::array<const PairAxis*, 2>;

/// The bins of both axes. Empty for an axis whose range is not known.
using AxisBins = std::array<std::optional<Bins>, 2>;

/// Throws Error(usage) for options that are invalid for any data.
AxisBins known_bins(const Axes& axes, const Pairs& pairs) {
  AxisBins known;
  std::array<std::size_t, 2> bins{};
  for (const std::size_t i : {0, 1}) {
    const HistogramOptions& options = axes[i]->bins;
    if (options.edges.empty() && options.bins.rule()) {
      throw Error(ErrorKind::usage, "a rule for the number of bins is for one axis",
                  {.why = "it says how many bins show the values of that axis alone",
                   .remedies = {{RemedyAction::set, "HistogramOptions::bins"}}});
    }
    known[i] = binning::known_bins(pairs.places[i].type, options);
    bins[i] = options.edges.empty() ? options.bins.number() : options.edges.size() - 1;
  }
  if (bins[0] * bins[1] <= max_cells) return known;
  throw Error(ErrorKind::usage,
              std::to_string(bins[0]) + " times " + std::to_string(bins[1]) + " cells",
              {.why = "a histogram of pairs has at most " + std::to_string(max_cells),
               .remedies = {{RemedyAction::lower, "HistogramOptions::bins"}}});
}

/// Throws Error(input_changed) if the counting pass saw other numbers than the survey, as far as
/// that shows: a pair may have a NaN or an infinity on both axes.
void check_unchanged(const Histogram2d& found, const Survey& survey, const AxisBins& known,
                     const Axes& axes, bool partial) {
  const auto& [x, y] = survey.axes;
  const auto infinite = [](const Extremes& axis) {
    return axis.negative_infinities + axis.positive_infinities;
  };
  const bool more_nan = found.nan > x.nan + y.nan;
  const bool fewer_nan = !partial && found.nan < std::max(x.nan, y.nan);
  const bool both = !known[0] && !known[1];
  const bool more_outside = both && found.outside > infinite(x) + infinite(y);
  if (!more_nan && !fewer_nan && !more_outside) return;
  throw binning::input_changed(path_of(axes[0]->source));
}

/// Returns the bins of both axes, over the numbers that a survey found where they are not known.
std::array<Bins, 2> bins_over(const AxisBins& known, const Survey& survey, const Axes& axes,
                              const Pairs& pairs) {
  std::array<Bins, 2> bins;
  for (const std::size_t i : {0, 1}) {
    if (known[i]) {
      bins[i] = *known[i];
      continue;
    }
    const auto chosen = binning::bins_over(survey.axes[i], axes[i]->bins, pairs.places[i].type,
                                           path_of(axes[i]->source));
    bins[i] = binning::make_bins(chosen.options, *chosen.options.range, ErrorKind::bad_input);
  }
  return bins;
}

bool is_empty(const Pairs& pairs) {
  return std::ranges::all_of(pairs.inputs,
                             [](const PassInput& input) { return input.source.is_empty(); });
}

std::array<std::size_t, 2> sizes_of(const Axes& axes) {
  const auto size = [](const HistogramOptions& options) {
    return options.edges.empty() ? options.bins.number() : options.edges.size() - 1;
  };
  return {size(axes[0]->bins), size(axes[1]->bins)};
}

template <std::size_t inputs>
Result<Histogram2d> count_pairs(Coordinator& coordinator, const Axes& axes, const Pairs& pairs,
                                const AxisBins& known, const PassOptions& wanted) {
  Passes passes(coordinator, pairs.inputs, wanted);
  std::optional<Survey> survey;
  std::array<Bins, 2> bins{Bins{{0, 1}}, Bins{{0, 1}}};  // placeholders for no pairs
  const bool all_known = known[0] && known[1];
  if (!all_known && !is_empty(pairs)) {
    std::tie(survey) =
        passes.fold(std::tuple(SurveyPairs<inputs>(pairs, memory_for(sizes_of(axes)))));
    if (passes.is_stopped()) return {{}, binning::without_results(passes.stats())};
  }
  if (all_known || survey) bins = bins_over(known, survey.value_or(Survey{}), axes, pairs);
  auto [found] = passes.fold_last(std::tuple(CountCells<inputs>(pairs, std::move(bins))));
  Stats stats = passes.stats();
  const bool partial = stats.outcome.partial;
  if (found.count != stats.outcome.records) {
    throw Error(ErrorKind::internal, std::to_string(found.count) + " pairs of " +
                                         std::to_string(stats.outcome.records) + " were counted");
  }
  if (survey) check_unchanged(found, *survey, known, axes, partial);
  if (!all_known && !survey) found = {};  // there are no pairs
  return {std::move(found), std::move(stats)};
}

void require_passes(const PairAxis& x, const PairAxis& y, std::size_t passes) {
  if (passes == 1) return;
  for (const PairAxis* const axis : {&x, &y}) {
    if (axis->source.is_produced()) throw binning::read_once(axis->source, axis->bins);
  }
}

}  // namespace

std::size_t histogram_2d_passes(const PairAxis& x, const PairAxis& y) {
  const Pairs pairs = pairs_of(x, y);
  const AxisBins known = known_bins({&x, &y}, pairs);
  return (known[0] && known[1]) || is_empty(pairs) ? 1 : 2;
}

Stats dry_run_histogram_2d(const Options& machine, DeviceKind device, const PairAxis& x,
                           const PairAxis& y, const PassOptions& wanted) {
  const std::size_t passes = histogram_2d_passes(x, y);
  require_passes(x, y, passes);
  return dry_run_passes(machine, device, pairs_of(x, y).inputs, wanted, passes,
                        memory_for(sizes_of({&x, &y})));
}

Result<Histogram2d> histogram_2d(Coordinator& coordinator, const PairAxis& x, const PairAxis& y,
                                 const PassOptions& wanted) {
  return or_fail_together(coordinator.ranks(), [&] {
    require_passes(x, y, histogram_2d_passes(x, y));
    const Axes axes{&x, &y};
    const Pairs pairs = pairs_of(x, y);
    const AxisBins known = known_bins(axes, pairs);
    return pairs.inputs.size() == 1 ? count_pairs<1>(coordinator, axes, pairs, known, wanted)
                                    : count_pairs<2>(coordinator, axes, pairs, known, wanted);
  });
}

}  // namespace ooc
