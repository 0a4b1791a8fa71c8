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
#include "histogram_2d/survey.hpp"

namespace ooc {

using namespace detail;
using namespace detail::pairs;
namespace {

using binning::Bins;
using binning::Extremes;
using Survey = SurveyOf<2>;

/// Both axes, of which the first is that of x.
using Axes = std::array<const PairAxis*, 2>;

/// The bins of both axes. Empty for an axis whose range is not known.
using AxisBins = std::array<std::optional<Bins>, 2>;

std::size_t bins_of(const HistogramOptions& options) {
  return options.edges.empty() ? options.bins.number() : options.edges.size() - 1;
}

/// Throws Error(usage) for options that are invalid for any data.
CellNumbers cells_of(const Axes& axes) {
  for (const PairAxis* const axis : axes) {
    const HistogramOptions& options = axis->bins;
    if (options.edges.empty() && options.bins.rule()) {
      throw Error(ErrorKind::usage, "a rule for the number of bins is for one axis",
                  {.why = "it says how many bins show the values of that axis alone",
                   .remedies = {{RemedyAction::set, "HistogramOptions::bins"}}});
    }
    binning::check(options);
  }
  const std::size_t x = bins_of(axes[0]->bins), y = bins_of(axes[1]->bins);
  if (x * y <= max_cells) return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)};
  throw Error(ErrorKind::usage, std::to_string(x) + " times " + std::to_string(y) + " cells",
              {.why = "a histogram of pairs has at most " + std::to_string(max_cells),
               .remedies = {{RemedyAction::lower, "HistogramOptions::bins"}}});
}

AxisBins known_bins(const Axes& axes, const Pairs& pairs) {
  AxisBins known;
  for (const std::size_t i : {0, 1}) {
    const HistogramOptions& options = axes[i]->bins;
    const bool is_known = options.range || !options.edges.empty();
    if (is_known) known[i] = binning::known_bins(pairs.places[i].value.type, options);
  }
  return known;
}

/// Throws Error(input_changed) if the counting pass saw other numbers than the survey, as far as
/// that shows: a pair may have a NaN or an infinity on both axes.
void check_unchanged(const Histogram2d& found, const Survey& survey, const AxisBins& known,
                     const Axes& axes, bool partial) {
  const auto& [x, y] = survey.extremes;
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

/// Returns the bins over the numbers of an axis. Throws Error(bad_input) that names it.
Bins bins_over(const Extremes& numbers, const PairAxis& axis, ElementType type) {
  try {
    const auto chosen = binning::bins_over(numbers, axis.bins, type, path_of(axis.source));
    return binning::make_bins(chosen.options, *chosen.options.range, ErrorKind::bad_input);
  } catch (const Error& error) {
    const std::string column = axis.column.empty() ? "" : " in column " + axis.column;
    throw Error(error.kind(), axis.source.name() + column + ": " + error.what(), error.details());
  }
}

/// Returns the bins of both axes, over the numbers that a survey found where they are not known.
std::array<Bins, 2> bins_over(const AxisBins& known, const Survey& survey, const Axes& axes,
                              const Pairs& pairs) {
  std::array<Bins, 2> bins;
  for (const std::size_t i : {0, 1}) {
    const ElementType type = pairs.places[i].value.type;
    bins[i] = known[i] ? *known[i] : bins_over(survey.extremes[i], *axes[i], type);
  }
  return bins;
}

bool is_empty(const Pairs& pairs) {
  return std::ranges::all_of(pairs.inputs,
                             [](const PassInput& input) { return input.source.is_empty(); });
}

/// A job: its data, and the bins of both axes.
struct Job {
  Axes axes;
  CellNumbers cells;
  Pairs pairs;
  AxisBins known;

  Job(const PairAxis& x, const PairAxis& y)
      : axes{&x, &y},
        cells(cells_of(axes)),
        pairs(pairs_of(x, y)),
        known(known_bins(axes, pairs)) {}

  bool all_known() const { return known[0] && known[1]; }

  /// Throws Error(usage) if a source that can be read once is to be read twice.
  std::size_t passes() const {
    const std::size_t passes = all_known() || is_empty(pairs) ? 1 : 2;
    for (const PairAxis* const axis : axes) {
      if (passes > 1 && axis->source.is_produced()) {
        throw binning::read_once(axis->source, axis->bins);
      }
    }
    return passes;
  }
};

template <std::size_t inputs>
Result<Histogram2d> count_pairs(Coordinator& coordinator, const Job& job,
                                const PassOptions& wanted) {
  Passes passes(coordinator, job.pairs.inputs, wanted);
  std::optional<Survey> survey;
  std::array<Bins, 2> bins{Bins{{0, 1}}, Bins{{0, 1}}};  // placeholders for no pairs
  if (job.passes() > 1) {
    std::tie(survey) =
        passes.fold(std::tuple(SurveyPairs<inputs, 2>(job.pairs, memory_for(job.cells))));
    if (passes.is_stopped()) return {{}, binning::without_results(passes.stats())};
  }
  const bool has_bins = job.all_known() || survey;
  if (has_bins) bins = bins_over(job.known, survey.value_or(Survey{}), job.axes, job.pairs);
  auto [found] = passes.fold_last(std::tuple(CountCells<inputs>(job.pairs, std::move(bins))));
  Stats stats = passes.stats();
  if (found.count != stats.outcome.records) {
    throw Error(ErrorKind::internal, std::to_string(found.count) + " pairs of " +
                                         std::to_string(stats.outcome.records) + " were counted");
  }
  if (survey) check_unchanged(found, *survey, job.known, job.axes, stats.outcome.partial);
  if (!has_bins) found = {};  // there are no pairs
  return {std::move(found), std::move(stats)};
}

}  // namespace

std::size_t histogram_2d_passes(const PairAxis& x, const PairAxis& y) {
  return Job(x, y).passes();
}

Stats dry_run_histogram_2d(const Options& machine, DeviceKind device, const PairAxis& x,
                           const PairAxis& y, const PassOptions& wanted) {
  const Job job(x, y);
  return dry_run_passes(machine, device, job.pairs.inputs, wanted, job.passes(),
                        memory_for(job.cells));
}

Result<Histogram2d> histogram_2d(Coordinator& coordinator, const PairAxis& x, const PairAxis& y,
                                 const PassOptions& wanted) {
  return or_fail_together(coordinator.ranks(), [&] {
    const Job job(x, y);
    return job.pairs.inputs.size() == 1 ? count_pairs<1>(coordinator, job, wanted)
                                        : count_pairs<2>(coordinator, job, wanted);
  });
}

}  // namespace ooc
