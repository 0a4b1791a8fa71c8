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

#include "base/collect_as.hpp"
#include "base/dry_run_passes.hpp"
#include "histogram/find_bins.hpp"
#include "histogram_2d/choose_bins.hpp"
#include "histogram_2d/operators.hpp"
#include "histogram_2d/pairs.hpp"
#include "histogram_2d/survey.hpp"

namespace ooc {

using namespace detail;
using namespace detail::pairs;
namespace {

using binning::Bins;

bool is_empty(const Pairs& pairs) {
  return std::ranges::all_of(pairs.inputs,
                             [](const PassInput& input) { return input.source.is_empty(); });
}

Axis axis_of(const PairAxis& axis, ElementType type) {
  const std::string column = axis.column.empty() ? "" : " in column " + axis.column;
  return {type, axis.bins, axis.source.name() + column, path_of(axis.source)};
}

/// Returns both axes of a saved part. Throws Error(usage) for bins that are invalid for any data.
Axes axes_of(const SavedAxis& x, const SavedAxis& y) {
  cells_of(x.bins, y.bins);
  return {Axis{x.type, x.bins, "the x axis", {}}, Axis{y.type, y.bins, "the y axis", {}}};
}

/// Returns the counts of parts. Throws Error(usage) if the bins are not known.
CellCounts counts_of_parts(const Axes& axes) {
  if (auto bins = known_bins(axes)) return {{axes[0].type, axes[1].type}, *std::move(bins)};
  throw Error(ErrorKind::usage, "to count pairs of a section takes the ranges of both axes",
              {.why = "a section does not know those of all data",
               .hint = "call collect_pair_bins() first, which finds them"});
}

/// A job: its data, and the bins of both axes.
struct Job {
  CellNumbers cells;
  Pairs pairs;
  Axes axes;

  Job(const PairAxis& x, const PairAxis& y)
      : cells(cells_of(x.bins, y.bins)),
        pairs(pairs_of(x, y)),
        axes{axis_of(x, pairs.types()[0]), axis_of(y, pairs.types()[1])} {}

  /// Throws Error(usage) if a source that can be read once is to be read twice.
  std::size_t passes() const {
    const std::size_t passes = known_bins(axes) || is_empty(pairs) ? 1 : 2;
    require_passes(pairs, passes, axes[0].bins);
    return passes;
  }

  /// The operator of the pass that finds ranges.
  template <std::size_t inputs>
  SurveyPairs<inputs, 2> survey() const {
    return {pairs, memory_for(cells)};
  }
};

template <std::size_t inputs>
Result<Histogram2d> count_pairs(Coordinator& coordinator, const Job& job,
                                const PassOptions& wanted) {
  Passes passes(coordinator, job.pairs.inputs, wanted);
  Axes axes = job.axes;
  std::optional<ChosenPairBins> chosen;
  if (job.passes() > 1) {
    const auto [survey] = passes.fold(std::tuple(job.survey<inputs>()));
    if (passes.is_stopped()) return {{}, binning::without_results(passes.stats())};
    chosen = bins_over(survey, axes);
    axes[0].bins = chosen->x;
    axes[1].bins = chosen->y;
  }
  const auto bins = known_bins(axes);
  const std::array none{Bins{{0, 1}}, Bins{{0, 1}}};  // placeholders for no pairs
  const CellCounts counts(job.pairs.types(), bins.value_or(none));
  auto [total] = passes.fold_last(std::tuple(CountCells<inputs>(job.pairs, counts)));
  Histogram2d found = counts.result(std::move(total));
  Stats stats = passes.stats();
  if (found.count != stats.outcome.records) {
    throw Error(ErrorKind::internal, std::to_string(found.count) + " pairs of " +
                                         std::to_string(stats.outcome.records) + " were counted");
  }
  if (chosen) check_unchanged(found, *chosen, stats.outcome.partial, axes[0].path);
  if (!bins) found = {};  // there are no pairs
  return {std::move(found), std::move(stats)};
}

}  // namespace

std::size_t histogram_2d_passes(const PairAxis& x, const PairAxis& y) {
  return Job(x, y).passes();
}

std::size_t histogram_2d_passes(const SavedAxis& x, const SavedAxis& y) {
  return known_bins(axes_of(x, y)) ? 1 : 2;
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
    return with_inputs(job.pairs,
                       [&](auto inputs) { return count_pairs<inputs>(coordinator, job, wanted); });
  });
}

Result<PartialResult<Histogram2d>> collect_histogram_2d(Coordinator& coordinator, const PairAxis& x,
                                                        const PairAxis& y,
                                                        const PassOptions& wanted) {
  const Job job(x, y);
  const CellCounts counts = counts_of_parts(job.axes);
  return with_inputs(job.pairs, [&](auto inputs) {
    return collect_as(counts, coordinator, CountCells<inputs>(job.pairs, counts), job.pairs.inputs,
                      wanted);
  });
}

PartialResult<Histogram2d> load_histogram_2d(const SavedAxis& x, const SavedAxis& y,
                                             std::span<const std::byte> saved) {
  return load_part(counts_of_parts(axes_of(x, y)), saved);
}

Result<PartialResult<ChosenPairBins>> collect_pair_bins(Coordinator& coordinator, const PairAxis& x,
                                                        const PairAxis& y,
                                                        const PassOptions& wanted) {
  const Job job(x, y);
  const ChoosePairBins choice(job.axes);
  return with_inputs(job.pairs, [&](auto inputs) {
    return collect_as(choice, coordinator, job.survey<inputs>(), job.pairs.inputs, wanted);
  });
}

PartialResult<ChosenPairBins> load_pair_bins(const SavedAxis& x, const SavedAxis& y,
                                             std::span<const std::byte> saved) {
  return load_part(ChoosePairBins(axes_of(x, y)), saved);
}

void require_unchanged(const ChosenPairBins& chosen, const Histogram2d& histogram) {
  check_unchanged(histogram, chosen, false, {});
}

}  // namespace ooc
