#include <ooc/detail/operators/passes.hpp>

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/ranks.hpp>

#include <string>

namespace ooc::detail {

Passes::Passes(Coordinator& coordinator, const Source& source, const PassOptions& wanted)
    : coordinator_(coordinator), source_(source), wanted_(wanted) {
  if (wanted.checkpoint) file_.emplace(wanted.checkpoint, coordinator.ranks());
}

/// Lets the data stay on the device for the next pass. For a checksum, all passes must read the
/// files; several devices or ranks share all passes instead.
void Passes::keep_on_device() {
  const bool is_shared = coordinator_.devices().size() > 1 || coordinator_.ranks() != nullptr;
  if (!resident_ && !wanted_.checksum && !is_shared) resident_.emplace(coordinator_, source_);
}

/// True if findings cover all records of the inputs, which may be sections.
bool Passes::covers_all(const Cover& cover, std::span<const PassInput> inputs) {
  const Cover all = cover_of(inputs, cover.partition);
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
                {.path = path_of(source_),
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
  const std::uint64_t all = source_.bytes();
  stats.outcome.records = source_.elements();
  stats.outcome.bytes = stats.outcome.resumed_bytes = all;
  if (wanted_.progress) wanted_.progress({.bytes = all, .total_bytes = all, .resumed_bytes = all});
  add(std::move(stats));
}

}  // namespace ooc::detail
