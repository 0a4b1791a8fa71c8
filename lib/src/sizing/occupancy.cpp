#include "sizing/occupancy.hpp"

#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ooc::detail {

namespace {

/// A slot for each chunk that is computed, waits for its lane, or is being read, and one more, so
/// that the reader need not wait for the slowest of them. `depth`: reads in flight.
std::size_t slots_for(const Layout& layout, const DeviceFacts& device, bool is_lent,
                      std::size_t depth) {
  // If lanes lend their steps, there are twice as many of them, each with one buffer.
  const bool has_one_buffer = is_lent && !device.reads_host_memory;
  const std::size_t lanes = has_one_buffer ? divide_up(layout.lanes, 2) : layout.lanes;
  const std::size_t ready = layout.reads.direct ? 1 : lanes;  // disks are slower than lanes
  // A device that reads host memory consumes a chunk in its slot. Another one's lane has a chunk on
  // the way to each of its two input buffers. A disk is so slow that the first chunk is copied long
  // before the second is read.
  const bool only_reads_disk = layout.reads.direct && !layout.reads_by_turns() && !layout.writes;
  const std::size_t with_lanes = device.reads_host_memory ? lanes + ready
                                 : only_reads_disk        ? lanes
                                                          : 2 * lanes + ready;
  // If two kinds of reads take turns, the slow ones complete out of order. With no more slots than
  // reads in flight, the disk would wait for the oldest of them (on the H200 machine it lost a
  // quarter of its rate).
  const std::size_t reading = chunks_read(layout, depth) * (layout.reads_by_turns() ? 2 : 1);
  const IoConfig* const out = layout.writes ? &layout.writes->config : nullptr;
  const std::size_t writing =
      out != nullptr ? lanes + divide_up(out->queue_depth * out->block_bytes, out->chunk_bytes) : 0;
  return with_lanes + reading + writing + 1;
}

/// True if the queue depth may be tuned: the user has not fixed it, and a disk is read for long
/// enough.
bool can_be_tuned(const Options& options, const Layout& layout) {
  constexpr std::uint64_t least_bytes = 1 * GiB;
  // Threads that the user has counted bound what can be in flight.
  const bool threads_fixed = options.engine == EngineKind::threads && options.threads != 0;
  return options.queue_depth == 0 && options.block_bytes == 0 && !threads_fixed &&
         (layout.reads.direct || layout.reads.engine == EngineKind::http) && !layout.reads_inline &&
         !layout.reads_by_turns() && !layout.plan.reads_nothing() &&
         layout.plan.bytes() >= least_bytes;
}

/// The most generous occupancy: slots for as many reads as are in flight at first, and for as many
/// as there may be later.
Occupancy most_generous(const Facts& facts, const Wishes& wishes, const Layout& layout) {
  constexpr std::size_t times_less = 4, times_more = 6;
  const std::size_t chunks = std::max<std::size_t>(layout.plan.size(), 1);
  const std::size_t depth = layout.reads.queue_depth;
  const bool is_lent = wishes.needs.lending.has_value();
  const auto slots_at = [&](std::size_t reads) {
    return std::min(
        layout.reads_inline ? layout.lanes : slots_for(layout, facts.device, is_lent, reads),
        chunks);
  };
  const std::size_t slots = slots_at(depth);
  if (!can_be_tuned(wishes.options, layout)) return {layout.lanes, slots, slots, depth};
  const TunedDepth tuned{depth, std::max<std::size_t>(depth / times_less, 1), depth * times_more};
  const std::size_t most = slots_at(tuned.most);
  if (most >= chunks) return {layout.lanes, slots, slots, depth};
  const std::size_t first = std::clamp(wishes.best_depth.value_or(depth), tuned.least, tuned.most);
  return {layout.lanes, slots + chunks_read(layout, first) - chunks_read(layout, depth), most,
          first, tuned};
}

/// The next smaller occupancy: without room to tune the queue depth, then with fewer slots and no
/// more reads than fit in them. Lanes that load their own chunks have a slot each, so there are
/// fewer lanes. So have lanes whose steps are lent in their slots. If a lane takes more memory than
/// a slot, there are fewer lanes before there are fewer slots. Empty for a single slot.
std::optional<Occupancy> smaller(Occupancy now, const Layout& layout, bool lends_slots,
                                 const HostBytes& beside) {
  if (now.tuned_depth) {
    const std::size_t depth = now.tuned_depth->first;
    const std::size_t slots = now.slots + chunks_read(layout, depth);
    now.slots = now.most_slots = slots - chunks_read(layout, now.queue_depth);
    now.queue_depth = depth;
    now.tuned_depth.reset();
    return now;
  }
  if (now.lanes > 1 && (layout.reads_inline || beside.per_lane > layout.slot_bytes)) {
    --now.lanes;
    if (layout.reads_inline) now.slots = now.most_slots = std::min(now.slots, now.lanes);
    return now;
  }
  if (now.slots == 1) return std::nullopt;
  now.most_slots = --now.slots;
  if (lends_slots) now.lanes = std::min(now.lanes, now.slots);
  const std::size_t requests_of_chunk =
      std::max<std::size_t>(
          divide_up(layout.plan.chunk_bytes(), layout.reads.block_bytes) + layout.plan.max_runs(),
          2) -
      1;
  now.queue_depth = std::min(now.queue_depth, now.slots * requests_of_chunk);
  return now;
}

/// Returns the memory of pieces that stay decoded because chunks begin and end within them (bytes).
std::uint64_t kept_bytes_of(const SourceFacts& source, const Layout& layout) {
  const bool ends_with_pieces = source.is_regular && source.piece_bytes != 0 &&
                                layout.plan.chunk_bytes() % source.piece_bytes == 0;
  return ends_with_pieces ? source.piece_bytes : source.kept_bytes;  // the last one may be padded
}

/// Returns the error for a pass that does not fit in the limit. `least`: the smallest occupancy.
Error no_room(const Layout& layout, const Wishes& wishes, std::size_t limit, const Occupancy& least,
              const HostBytes& beside, std::uint64_t kept_bytes) {
  const StepNeeds& needs = wishes.needs;
  const std::uint64_t chunk = layout.plan.max_bytes();
  const bool has_large_chunks = layout.chunk_bytes > needs.partition * layout.record_bytes;
  std::string why = "one chunk of " + std::to_string(chunk) + " bytes must fit, in whole pages";
  if (!has_large_chunks && chunk == layout.chunk_bytes) {
    why += "; it has " + group_digits(std::to_string(needs.partition)) +
           (wishes.needs.partition == 1 ? " record at least" : " records at least");
  }
  const std::size_t buffer_bytes = beside.per_lane - needs.memory.per_lane;
  if (buffer_bytes != 0) {
    why += ", and one more for each stream, of which there are " + std::to_string(least.lanes);
  }
  if (const HostBytes& of_operation = needs.memory; of_operation.fixed != 0) {
    why += "; the results take " + std::to_string(of_operation.fixed) + " bytes, and " +
           std::to_string(of_operation.per_lane) + " for each stream";
  }
  if (kept_bytes != 0) {
    why += "; pieces that are decoded whole take " + std::to_string(kept_bytes) + " bytes";
  }
  const std::size_t bytes = least.host_bytes(layout.slot_bytes, beside);
  std::vector<Remedy> remedies{
      {RemedyAction::raise, "Options::memory_bytes", std::to_string(bytes)}};
  if (has_large_chunks) remedies.push_back({RemedyAction::lower, "Options::chunk_bytes"});
  if (beside.per_lane != 0 && least.lanes > 1) {
    remedies.push_back({RemedyAction::lower, "Options::streams"});
  }
  return {ErrorKind::memory,
          "the pass needs at least " + std::to_string(bytes) +
              (wishes.options.memory_bytes != 0 ? " bytes, the limit is "
                                                : " bytes, half of the available memory is ") +
              std::to_string(limit),
          {.why = why, .remedies = std::move(remedies)}};
}

}  // namespace

Occupancy choose_occupancy(const Facts& facts, const Wishes& wishes, const Layout& layout) {
  Occupancy occupancy = most_generous(facts, wishes, layout);
  // Without a limit, long records could take more memory than there is.
  const std::size_t limit = wishes.options.memory_bytes != 0
                                ? wishes.options.memory_bytes
                                : facts.host_bytes / wishes.needs.devices / 2;
  const bool lends_slots = wishes.needs.lending && facts.device.reads_host_memory;
  if (limit == 0) return occupancy;
  HostBytes beside = wishes.needs.memory;
  if (facts.device.reads_host_memory) beside.per_lane += layout.buffers.bytes();
  const std::uint64_t kept_bytes = kept_bytes_of(facts.source, layout);
  beside.fixed += kept_bytes;
  while (occupancy.host_bytes(layout.slot_bytes, beside) > limit) {
    const std::optional<Occupancy> next = smaller(occupancy, layout, lends_slots, beside);
    if (!next) throw no_room(layout, wishes, limit, occupancy, beside, kept_bytes);
    occupancy = *next;
  }
  return occupancy;
}

}  // namespace ooc::detail
