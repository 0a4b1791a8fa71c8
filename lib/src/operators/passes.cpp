#include <ooc/detail/operators/passes.hpp>

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/ranks.hpp>

#include <string>

#include "device/resident_memory.hpp"

namespace ooc::detail {

Passes::Passes(Coordinator& coordinator, std::span<const PassInput> inputs,
               const PassOptions& wanted)
    : coordinator_(coordinator), inputs_(inputs.begin(), inputs.end()), wanted_(wanted) {
  if (wanted.checkpoint) file_.emplace(wanted.checkpoint, coordinator.ranks());
}

/// Lets the data stay on the device for the next pass. For a checksum, all passes must read the
/// files; several devices or ranks share all passes instead.
void Passes::keep_on_device() {
  const bool is_shared = coordinator_.devices().size() > 1 || coordinator_.ranks() != nullptr;
  if (inputs_.front().resident || wanted_.checksum || is_shared) return;
  std::vector<const Source*> sources;
  for (const PassInput& input : inputs_) sources.push_back(&input.source);
  const auto memory = kept_memory(coordinator_.device(), sources, 0);
  for (PassInput& input : inputs_) input.resident = memory;
}

/// True if findings cover all records of the inputs, which may be sections.
bool Passes::covers_all(const Cover& cover) const {
  const Cover all = cover_of(inputs_, cover.partition);
  return cover.records == all.records && cover.ranges == all.ranges;
}

void Passes::add(Stats stats) {
  if (!stats_) {
    stats_ = std::move(stats);
    return;
  }
  const std::optional<std::string>&before = stats_->outcome.checksum, &now = stats.outcome.checksum;
  if (before && now && before != now) {
    throw Error(ErrorKind::input_changed, "the input changed while it was read",
                {.path = path_of(inputs_.front().source),
                 .why = "its checksum was " + *before + " in one pass and " + *now + " in the next",
                 .hint = "if no program wrote to it, memory or a disk is failing: compare both "
                         "with what `xxh128sum` finds"});
  }
  // A pass that an earlier run has completed has no layout.
  if (stats_->layout.chunks == 0) stats_->layout = stats.layout;
  *stats_ += stats;
}

/// Counts and reports a pass that an earlier run has completed.
void Passes::add_kept_pass() {
  Stats stats;
  std::uint64_t all = 0;
  for (const PassInput& input : inputs_) all += input.source.bytes();
  stats.outcome.records = records_of(inputs_.front());
  stats.outcome.bytes = stats.outcome.resumed_bytes = all;
  if (wanted_.progress) wanted_.progress({.bytes = all, .total_bytes = all, .resumed_bytes = all});
  add(std::move(stats));
}

}  // namespace ooc::detail
