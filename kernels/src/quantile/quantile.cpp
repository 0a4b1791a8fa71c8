#include <ooc/detail/operators/passes.hpp>
#include <ooc/error.hpp>
#include <ooc/quantile.hpp>
#include <ooc/reduce.hpp>

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/dry_run_passes.hpp"
#include "histogram/count_keys.hpp"
#include "histogram/search.hpp"

namespace ooc {

using namespace detail;

namespace {

/// Throws Error(usage) if the source can be read only once, but has to be read several times.
void require_passes(const Source& source, std::size_t passes) {
  if (passes == 1 || !source.is_produced()) return;
  throw Error(
      ErrorKind::usage,
      source.name() + ": quantiles of this type read it " + std::to_string(passes) + " times",
      {.why = "it can be read once; only types of one or two bytes take one pass",
       .hint = "save it to a file, or decompress it"});
}

/// Finds quantiles, and folds the source with other operators in the first pass. There are no
/// results if a pass is stopped.
template <class T, class... Others>
Result<std::optional<std::tuple<Quantiles, ResultOf<Others>...>>> find_beside(
    Coordinator& coordinator, const Source& source, const QuantileOptions& options,
    const PassOptions& wanted, const Others&... others) {
  quantiles::Search search(source.element(), options);
  Passes passes(coordinator, inputs_of<T>(source), wanted);
  const auto fold = [&](const auto& operators) {
    const bool is_last = search.is_last_pass() || source.is_empty();
    return is_last ? passes.fold_last(operators) : passes.fold(operators);
  };
  auto first = fold(std::tuple(quantiles::next_pass<T>(search), others...));
  if (quantiles::find_all<T>(search, passes, std::get<0>(std::move(first)), fold)) {
    return {
        std::apply([&](const auto& /*counts*/,
                       auto&... found) { return std::tuple(search.result(), std::move(found)...); },
                   first),
        passes.stats()};
  }
  Stats stats = passes.stats();
  stats.outcome.records = stats.outcome.bytes = 0;
  return {{}, std::move(stats)};
}

}  // namespace

std::size_t quantile_passes(ElementType type, const QuantileOptions& options) {
  quantiles::check(options);
  return quantiles::digits_for(static_cast<std::uint32_t>(8 * size_of(type)), options).passes;
}

Stats dry_run_quantile(const Options& machine, DeviceKind device, const Source& source,
                       const QuantileOptions& options, const PassOptions& wanted) {
  const ElementType type = source.element();
  const std::size_t passes = source.is_empty() ? 1 : quantile_passes(type, options);
  require_passes(source, passes);
  const std::size_t bins = quantiles::Search(type, options).most_bins();
  return dry_run_passes(machine, device, source, wanted, passes,
                        binning::key_counting_bytes(type, bins));
}

Result<Quantiles> quantile(Coordinator& coordinator, const Source& source,
                           const QuantileOptions& options, const PassOptions& wanted) {
  require_passes(source, quantile_passes(source.element(), options));
  return or_fail_together(coordinator.ranks(), [&] {
    return visit(source.element(), [&]<class T>(std::type_identity<T>) -> Result<Quantiles> {
      auto [found, stats] = find_beside<T>(coordinator, source, options, wanted);
      if (!found) return {{}, std::move(stats)};
      return {std::get<0>(*std::move(found)), std::move(stats)};
    });
  });
}

Result<std::tuple<Statistics, Quantiles>> reduce_with_quantiles(Coordinator& coordinator,
                                                                const Source& source,
                                                                const ReduceOptions& reduce,
                                                                const QuantileOptions& options,
                                                                const PassOptions& wanted) {
  using Both = std::tuple<Statistics, Quantiles>;
  require_passes(source, quantile_passes(source.element(), options));
  return or_fail_together(coordinator.ranks(), [&] {
    return visit(source.element(), [&]<class T>(std::type_identity<T>) -> Result<Both> {
      auto [found, stats] = find_beside<T>(coordinator, source, options, wanted,
                                           Reduction<T>(reduce, source.column_major()));
      if (!found) return {{}, std::move(stats)};
      auto& [quantiles, statistics] = *found;
      return {{std::move(statistics), std::move(quantiles)}, std::move(stats)};
    });
  });
}

QuantileSearch::QuantileSearch(ElementType type, const QuantileOptions& options)
    : search_(std::make_unique<quantiles::Search>(type, options)) {}
QuantileSearch::~QuantileSearch() = default;
QuantileSearch::QuantileSearch(QuantileSearch&& other) noexcept = default;
QuantileSearch& QuantileSearch::operator=(QuantileSearch&& other) noexcept = default;

bool QuantileSearch::is_complete() const noexcept {
  return search_->is_complete();
}

Result<PartialResult<QuantileCounts>> QuantileSearch::collect(Coordinator& coordinator,
                                                              const Source& section,
                                                              const PassOptions& wanted) const {
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    return ooc::collect(coordinator, quantiles::next_pass<T>(*search_), section, wanted);
  });
}

PartialResult<QuantileCounts> QuantileSearch::load(std::span<const std::byte> saved) const {
  return visit(search_->type(), [&]<class T>(std::type_identity<T>) {
    return load_part(quantiles::next_pass<T>(*search_), saved);
  });
}

void QuantileSearch::take(const QuantileCounts& counts) {
  search_->take(counts);
}

Quantiles QuantileSearch::result() const {
  return search_->result();
}

}  // namespace ooc
