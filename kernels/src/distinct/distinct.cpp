#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/distinct.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "base/dry_run_passes.hpp"
#include "distinct/find_distinct.hpp"

namespace ooc {

using namespace detail;

namespace {

void check(const DistinctOptions& options) {
  if (options.counts > max_distinct_counts) {
    throw Error(
        ErrorKind::usage,
        "the counts of the " + std::to_string(options.counts) + " most frequent values were asked",
        {.hint = "at most " + std::to_string(max_distinct_counts) + " are found"});
  }
  if (options.estimate && options.counts != 0) {
    throw Error(ErrorKind::usage, "an estimate of the number of values has no counts",
                {.hint = "leave one of them out"});
  }
}

/// The machine, and whether the values of a pass are needed behind it.
struct PassFacts {
  const Options& machine;
  std::size_t devices = 1;
  bool has_earlier = false;  // values of an earlier run or of other ranks are merged
  bool is_part = false;      // its values are saved
};

PassFacts facts_of(const Options& machine, const PassOptions& wanted) {
  return {.machine = machine, .has_earlier = wanted.checkpoint || machine.ranks != nullptr};
}

PassFacts facts_of(const Coordinator& coordinator, const PassOptions& wanted) {
  return {.machine = coordinator.options(),
          .devices = coordinator.devices().size(),
          .has_earlier = wanted.checkpoint || coordinator.ranks() != nullptr};
}

/// Returns how values are kept. A table gets what chunks leave, but no more than a source without
/// equal elements takes.
distincts::Keeping keeping_for(const PassFacts& facts, const Source& source,
                               const DistinctOptions& options) {
  using distincts::Bitmap, distincts::Place;
  check(options);
  if (options.estimate) return {};
  const ElementType type = source.element();
  double values = 0x1p60;  // more than any memory holds
  if (!source.is_produced())
    values = static_cast<double>(source.whole_bytes() / source.element_bytes());
  values = std::min(values, std::exp2(8 * size_of(type)));
  const double needed = distincts::table_bytes_for(values, options.counts != 0);
  const std::size_t limit =
      (facts.machine.memory_bytes != 0 ? facts.machine.memory_bytes : available_host_bytes() / 2) /
      facts.devices;
  // There is a second table of what was found before.
  const std::size_t most = distincts::table_within(limit / (facts.has_earlier ? 2 : 1));
  const std::size_t table_bytes =
      needed < static_cast<double>(most) ? static_cast<std::size_t>(needed) : most;
  if (options.counts != 0 || facts.has_earlier || facts.is_part || facts.devices > 1) {
    return {table_bytes, Place::table};
  }
  const bool may_mark =
      size_of(type) == 4 && !source.is_produced() && needed > static_cast<double>(Bitmap::bytes);
  if (!may_mark) return {table_bytes, Place::counted};
  constexpr std::size_t enough = Bitmap::bytes + distincts::beside_table;
  if (limit < enough) return {table_bytes, Place::counted, enough};
  return {std::min(table_bytes, Bitmap::bytes), Place::bitmap};
}

}  // namespace

Result<Distinct> distinct(Coordinator& coordinator, const Source& source,
                          const DistinctOptions& options, const PassOptions& wanted) {
  const auto keeping = keeping_for(facts_of(coordinator, wanted), source, options);
  return visit(source.element(), [&]<class T>(std::type_identity<T>) {
    return fold(coordinator, distincts::FindDistinct<T>(options, keeping), source, wanted);
  });
}

std::size_t distinct_table_bytes(const Options& machine, const Source& source,
                                 const DistinctOptions& options, const PassOptions& wanted) {
  const auto keeping = keeping_for(facts_of(machine, wanted), source, options);
  return keeping.place == distincts::Place::bitmap ? distincts::Bitmap::bytes : keeping.table_bytes;
}

Stats dry_run_distinct(const Options& machine, DeviceKind device, const Source& source,
                       const DistinctOptions& options, const PassOptions& wanted, bool is_part) {
  PassFacts facts = facts_of(machine, wanted);
  facts.is_part = is_part;
  const auto keeping = keeping_for(facts, source, options);
  return dry_run_passes(machine, device, source, wanted, 1,
                        distincts::host_bytes_for(source.element(), options, keeping));
}

Result<PartialResult<Distinct>> collect_distinct(Coordinator& coordinator, const Source& section,
                                                 const DistinctOptions& options,
                                                 const PassOptions& wanted) {
  PassFacts facts = facts_of(coordinator, wanted);
  facts.is_part = true;
  const auto keeping = keeping_for(facts, section, options);
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    return collect(coordinator, distincts::FindDistinct<T>(options, keeping), section, wanted);
  });
}

PartialResult<Distinct> load_distinct(ElementType type, const DistinctOptions& options,
                                      std::span<const std::byte> saved) {
  check(options);
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return load_part(distincts::FindDistinct<T>(options, {distincts::Table::no_limit}), saved);
  });
}

}  // namespace ooc
