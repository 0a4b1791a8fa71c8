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

/// Returns the most bytes of a table for passes with these settings. It gets what chunks leave: no
/// more than a source without equal elements takes.
std::size_t most_table_bytes(const Options& machine, std::size_t devices, bool has_ranks,
                             const Source& source, const DistinctOptions& options,
                             const PassOptions& wanted) {
  check(options);
  if (options.estimate) return 0;
  const ElementType type = source.element();
  double values = 0x1p60;  // more than any memory holds
  if (!source.is_produced())
    values = static_cast<double>(source.whole_bytes() / source.element_bytes());
  values = std::min(values, std::exp2(8 * size_of(type)));
  const double needed = distincts::table_bytes_for(values, options.counts != 0);
  const std::size_t limit =
      (machine.memory_bytes != 0 ? machine.memory_bytes : available_host_bytes() / 2) / devices;
  // With a checkpoint or ranks, there is a second table of what was found before.
  const std::size_t tables = wanted.checkpoint || has_ranks ? 2 : 1;
  const std::size_t most = distincts::table_within(limit / tables);
  return needed < static_cast<double>(most) ? static_cast<std::size_t>(needed) : most;
}

std::size_t most_table_bytes(const Coordinator& coordinator, const Source& source,
                             const DistinctOptions& options, const PassOptions& wanted) {
  return most_table_bytes(coordinator.options(), coordinator.devices().size(),
                          coordinator.ranks() != nullptr, source, options, wanted);
}

}  // namespace

Result<Distinct> distinct(Coordinator& coordinator, const Source& source,
                          const DistinctOptions& options, const PassOptions& wanted) {
  const std::size_t bytes = most_table_bytes(coordinator, source, options, wanted);
  return visit(source.element(), [&]<class T>(std::type_identity<T>) {
    return fold(coordinator, distincts::FindDistinct<T>(options, bytes), source, wanted);
  });
}

std::size_t distinct_table_bytes(const Options& machine, const Source& source,
                                 const DistinctOptions& options, const PassOptions& wanted) {
  return most_table_bytes(machine, 1, machine.ranks != nullptr, source, options, wanted);
}

Stats dry_run_distinct(const Options& machine, DeviceKind device, const Source& source,
                       const DistinctOptions& options, const PassOptions& wanted) {
  const std::size_t bytes = distinct_table_bytes(machine, source, options, wanted);
  return dry_run_passes(machine, device, source, wanted, 1,
                        distincts::host_bytes_for(source.element(), options, bytes));
}

Result<PartialResult<Distinct>> collect_distinct(Coordinator& coordinator, const Source& section,
                                                 const DistinctOptions& options,
                                                 const PassOptions& wanted) {
  const std::size_t bytes = most_table_bytes(coordinator, section, options, wanted);
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    return collect(coordinator, distincts::FindDistinct<T>(options, bytes), section, wanted);
  });
}

PartialResult<Distinct> load_distinct(ElementType type, const DistinctOptions& options,
                                      std::span<const std::byte> saved) {
  check(options);
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return load_part(distincts::FindDistinct<T>(options, distincts::Table::no_limit), saved);
  });
}

}  // namespace ooc
