#include <ooc/weighted_histogram.hpp>

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/operators/passes.hpp>
#include <ooc/error.hpp>

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/collect_as.hpp"
#include "base/dry_run_passes.hpp"
#include "histogram/find_bins.hpp"
#include "histogram_2d/pairs.hpp"
#include "histogram_2d/survey.hpp"
#include "weighted_histogram/operators.hpp"

namespace ooc {

using namespace detail;
using namespace detail::weighing;

namespace {

using binning::Bins;

/// Returns the number of bins. Throws Error(usage) for options that are invalid for any data.
std::size_t bins_of(const HistogramOptions& options, ElementType weights) {
  const bool has_edges = !options.edges.empty();
  if (!has_edges && options.bins.rule()) {
    throw Error(ErrorKind::usage, "a rule for the number of bins is for values without weights",
                {.why = "it says how many bins show the counts of values",
                 .remedies = {{RemedyAction::set, "HistogramOptions::bins"}}});
  }
  binning::check(options);
  const std::size_t bins = has_edges ? options.edges.size() - 1 : options.bins.number();
  if (bins <= max_weighted_bins) return bins;
  throw Error(ErrorKind::usage, std::to_string(bins) + " bins with weights",
              {.why = "there are at most " + std::to_string(max_weighted_bins) +
                      ", since the exact sum of each takes " +
                      std::to_string(bytes_of_sums(weights, 1)) + " bytes, for every thread",
               .remedies = {{RemedyAction::lower, "HistogramOptions::bins"}}});
}

/// Returns the sums of parts. Throws Error(usage) for options that are invalid for any data, and if
/// the bins are not known.
WeightSums sums_of_parts(const std::array<ElementType, 2>& types, const HistogramOptions& options) {
  bins_of(options, types[1]);
  if (auto bins = binning::known_bins(types[0], options)) return {types, *std::move(bins)};
  throw Error(ErrorKind::usage, "to add the weights of a section takes the range of the bins",
              {.why = "a section does not know that of all data",
               .hint = "call collect_bins() of the values first, which finds it"});
}

/// A job: its data, and the options of its bins.
struct WeightedJob {
  const Source& source;
  const HistogramOptions& options;
  std::size_t bins;
  pairs::Pairs pairs;

  WeightedJob(const Source& values, const Source& weights, const HistogramOptions& of_bins)
      : source(values),
        options(of_bins),
        bins(bins_of(of_bins, weights.element())),
        pairs(pairs::pairs_of({.source = values}, {.source = weights})) {}

  ElementType type() const { return pairs.types()[0]; }
  HostBytes memory() const { return memory_for(pairs.types()[1], bins); }

  /// Throws Error(usage) if a source that can be read once is to be read twice.
  std::size_t passes() const {
    const std::size_t passes = histogram_passes(source, options);
    require_passes(pairs, passes, options);
    return passes;
  }
};

template <std::size_t inputs>
Result<WeightedHistogram> sum_in_bins(Coordinator& coordinator, const WeightedJob& job,
                                      const PassOptions& wanted) {
  Passes passes(coordinator, job.pairs.inputs, wanted);
  std::optional<Bins> bins = binning::known_bins(job.type(), job.options);
  std::optional<ChosenBins> chosen;
  if (job.passes() > 1) {
    const auto [survey] =
        passes.fold(std::tuple(pairs::SurveyPairs<inputs, 1>(job.pairs, job.memory())));
    if (passes.is_stopped()) return {{}, binning::without_results(passes.stats())};
    chosen = binning::bins_over(survey.extremes[0], job.options, job.type(), path_of(job.source));
    bins = binning::make_bins(chosen->options, *chosen->options.range, ErrorKind::bad_input);
  }
  const WeightSums sums(job.pairs.types(), std::move(bins).value_or(Bins{{0, 1}}));
  auto [total] = passes.fold_last(std::tuple(SumWeights<inputs>(job.pairs, sums)));
  WeightedHistogram found = sums.result(std::move(total));
  Stats stats = passes.stats();
  binning::complete(found.histogram, job.source, job.options, chosen, stats);
  found.sums.resize(found.histogram.counts.size());  // no values may have no bins
  return {std::move(found), std::move(stats)};
}

}  // namespace

Stats dry_run_weighted_histogram(const Options& machine, DeviceKind device, const Source& source,
                                 const Source& weights, const HistogramOptions& options,
                                 const PassOptions& wanted) {
  const WeightedJob job(source, weights, options);
  return dry_run_passes(machine, device, job.pairs.inputs, wanted, job.passes(), job.memory());
}

Result<WeightedHistogram> weighted_histogram(Coordinator& coordinator, const Source& source,
                                             const Source& weights, const HistogramOptions& options,
                                             const PassOptions& wanted) {
  return or_fail_together(coordinator.ranks(), [&] {
    const WeightedJob job(source, weights, options);
    return with_inputs(job.pairs,
                       [&](auto inputs) { return sum_in_bins<inputs>(coordinator, job, wanted); });
  });
}

Result<PartialResult<WeightedHistogram>> collect_weighted_histogram(Coordinator& coordinator,
                                                                    const Source& section,
                                                                    const Source& weights,
                                                                    const HistogramOptions& options,
                                                                    const PassOptions& wanted) {
  const WeightedJob job(section, weights, options);
  const WeightSums sums = sums_of_parts(job.pairs.types(), options);
  return with_inputs(job.pairs, [&](auto inputs) {
    return collect_as(sums, coordinator, SumWeights<inputs>(job.pairs, sums), job.pairs.inputs,
                      wanted);
  });
}

PartialResult<WeightedHistogram> load_weighted_histogram(ElementType type, ElementType of_weights,
                                                         const HistogramOptions& options,
                                                         std::span<const std::byte> saved) {
  return load_part(sums_of_parts({type, of_weights}, options), saved);
}

}  // namespace ooc
