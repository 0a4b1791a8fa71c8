#include <ooc/histogram.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

#include "histogram/find_bins.hpp"

namespace ooc {

using namespace detail;

Result<Summary> summarize(Coordinator& coordinator, const Source& source,
                          const SummaryOptions& options, const PassOptions& wanted) {
  return detail::or_fail_together(coordinator.ranks(), [&] {
    return visit(source.element(), [&]<class T>(std::type_identity<T>) -> Result<Summary> {
      const Reduction<T> statistics(options.reduce, source.column_major());
      auto [found, stats] =
          binning::count_beside<T>(coordinator, source, options.histogram, wanted, statistics);
      if (!found) return {{}, std::move(stats)};
      auto& [histogram, all] = *found;
      return {{std::move(all), std::move(histogram)}, std::move(stats)};
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
