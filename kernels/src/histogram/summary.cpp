#include <ooc/histogram.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

#include "histogram/range_pass.hpp"

namespace ooc {

using namespace detail;

Result<Summary> summarize(Coordinator& coordinator, const Source& source,
                          const SummaryOptions& options, const PassOptions& wanted) {
  return detail::or_fail_together(coordinator.ranks(), [&]() -> Result<Summary> {
    binning::FoundBins found = binning::find_bins(coordinator, source, options.histogram, wanted);
    if (!found.bins) return {Summary{}, std::move(found.pass->stats)};
    return visit(source.element(), [&]<class T>(std::type_identity<T>) -> Result<Summary> {
      const std::tuple both{Reduction<T>(options.reduce, source.column_major()),
                            binning::counting_in<T>(found.bins)};
      auto [answers, stats] = binning::fold_found(coordinator, both, source, found, wanted);
      auto& [statistics, histogram] = answers;
      stats = binning::complete(histogram, source, options.histogram, found, stats);
      return {{std::move(statistics), std::move(histogram)}, std::move(stats)};
    });
  });
}

Result<std::tuple<PartialResult<Statistics>, PartialResult<Histogram>>> collect_summary(
    Coordinator& coordinator, const Source& section, const SummaryOptions& options,
    const PassOptions& wanted) {
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    const std::tuple both{Reduction<T>(options.reduce, section.column_major()),
                          CountBins<T>(options.histogram)};
    return collect(coordinator, both, section, wanted);
  });
}

void verify_summary(Coordinator& coordinator, const Source& source, const SummaryOptions& options,
                    const Summary& found, const PassOptions& wanted) {
  verify_reduce(coordinator, source, options.reduce, found.statistics, wanted);
  verify_histogram(coordinator, source, options.histogram, found.histogram, wanted);
}

}  // namespace ooc
