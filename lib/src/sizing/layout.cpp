#include "sizing/layout.hpp"

#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/error.hpp>

#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "sizing/occupancy.hpp"
#include "sizing/reading.hpp"

namespace ooc::detail {

namespace {

/// Returns the chunk of at most `wanted` bytes that keeps within the limits, if any can. `buffers`:
/// how many times a chunk's bytes are in a slot, and in a lane's buffer, one for the input and
/// perhaps one for the output.
std::size_t chunk_within_limits(const Options& options, const DeviceFacts& device,
                                std::size_t lanes, std::size_t wanted, std::size_t buffers) {
  std::size_t most = wanted;
  if (options.memory_bytes != 0) {
    most = std::min(most, options.memory_bytes / (2 * (lanes + 1) * buffers));
  }
  if (options.device_bytes != 0 && !device.reads_host_memory) {
    // Two buffers of each kind a lane, and as much again for what operators keep there.
    most = std::min(most, options.device_bytes / (4 * lanes * buffers));
  }
  return most;
}

/// Records of a step, and the reason for their number.
struct ChunkSize {
  std::size_t records;
  Reason why;
  std::size_t piece_records;  // what a slot holds of them
};

/// Bytes that a record takes in all outputs.
std::size_t output_bytes_of(const Facts& facts) {
  std::size_t sum = 0;
  for (const OutputFacts& output : facts.outputs) sum += output.record_bytes;
  return sum;
}

/// Returns the records of the largest piece of a partition: a power of two of them, of at most
/// `wanted` bytes.
std::size_t piece_of(const StepNeeds& needs, std::size_t wanted) {
  constexpr std::size_t least_bytes = 64 * KiB;
  const std::size_t elements =
      std::bit_floor(std::max<std::size_t>(std::max(wanted, least_bytes) / needs.bytes(), 1));
  return std::min(elements, needs.partition);
}

/// Gives the larger one of input and output the size that `reading` has chosen.
ChunkSize choose_chunk(const Facts& facts, const Wishes& wishes, const Reading& reading) {
  const auto& [options, workers, needs, best_depth] = wishes;
  const IoConfig& config = reading.config;
  const std::size_t output_bytes = output_bytes_of(facts);
  const std::size_t record_bytes = needs.inputs.empty() ? output_bytes : needs.bytes();
  const std::size_t partition_bytes = needs.partition * record_bytes;
  const bool in_pieces = !facts.device.reads_host_memory && facts.outputs.empty() &&
                         !reading.both_ways && !facts.source.is_produced &&
                         (!needs.lending || needs.lending->is_everything());
  const auto with_pieces = [&](std::size_t records, std::size_t wanted, Reason why) {
    const bool splits = in_pieces && wanted < partition_bytes;
    return ChunkSize{records, std::move(why), splits ? piece_of(needs, wanted) : records};
  };
  if (needs.lending && needs.lending->step_records != 0) {
    // No more than there are, since sums and products of such sizes must not overflow.
    const std::uint64_t all = facts.source.is_produced ? most_produced_bytes / needs.bytes() / 4096
                                                       : facts.source.bytes() / needs.bytes();
    const std::size_t records =
        std::min<std::uint64_t>(needs.lending->step_records, std::max<std::uint64_t>(all, 1));
    return {records, {.what = ReasonKind::chunk_as_asked, .figures = {records}}, records};
  }
  if (options.chunk_bytes != 0) {
    const ReasonKind what = options.chunk_bytes < partition_bytes ? ReasonKind::chunk_at_least
                                                                  : ReasonKind::chunk_as_asked;
    return with_pieces(divide_up(options.chunk_bytes, partition_bytes) * needs.partition,
                       options.chunk_bytes, {.what = what, .figures = {needs.partition}});
  }
  const std::size_t widest = std::max({needs.bytes(), output_bytes, needs.decoded_bytes()});
  const std::size_t buffers = 1u + (output_bytes != 0) + (needs.decoded_bytes() != 0);
  const std::size_t partition_most = needs.partition * widest;
  constexpr std::size_t times_margin = 50;  // so that reading it twice costs 2 % at most
  // Without another limit, half of the available memory is the limit.
  const std::size_t available =
      chunk_within_limits({.memory_bytes = facts.host_bytes / needs.devices / 2}, facts.device,
                          reading.lanes, std::numeric_limits<std::size_t>::max(), buffers);
  const std::size_t beside_margin = std::min(times_margin * needs.margin_bytes(), available);
  const bool for_margin = beside_margin > config.chunk_bytes;
  const std::size_t wanted = round_up(std::max(config.chunk_bytes, beside_margin), partition_most);
  Options beside_operation = options;
  if (options.memory_bytes != 0) {
    const std::size_t taken = needs.memory.fixed + reading.lanes * needs.memory.per_lane;
    beside_operation.memory_bytes = std::max<std::size_t>(options.memory_bytes, taken + 1) - taken;
  }
  const std::size_t most =
      chunk_within_limits(beside_operation, facts.device, reading.lanes, wanted, buffers);
  std::size_t partitions = std::max<std::size_t>(most / partition_most, 1);
  // Blocks are whole steps of all devices.
  if (needs.is_shared) partitions = std::bit_floor(partitions);
  return with_pieces(partitions * needs.partition, std::min(most, config.chunk_bytes),
                     {.what = partitions * partition_most < wanted ? ReasonKind::chunk_within_limits
                              : for_margin                         ? ReasonKind::chunk_for_margin
                                                                   : config.why_chunk});
}

/// True if steps that the device has, and those that are loaded, take turns.
bool takes_turns(const Reading& reading, const StepNeeds& needs, const ChunkSize& chunk) {
  return needs.resident >= chunk.records && !reading.is_resident && !needs.in_order &&
         chunk.piece_records == chunk.records;
}

/// Returns the order in which the pieces of a source are read; null for its own.
std::shared_ptr<const ChunkOrder> choose_order(const Facts& facts, const StepNeeds& needs,
                                               const Reading& reading, const ChunkSize& chunk) {
  if (reading.both_ways) {
    return std::make_shared<const ChunkOrder>(
        ChunkOrder::by_turns(cached_pieces(facts.source.runs, chunk.records * needs.bytes())));
  }
  if (takes_turns(reading, needs, chunk)) {
    std::vector<bool> resident(divide_up(facts.source.bytes() / needs.bytes(), chunk.records));
    std::fill_n(resident.begin(), needs.resident / chunk.records, true);
    return std::make_shared<const ChunkOrder>(ChunkOrder::by_turns(std::move(resident)));
  }
  if (!needs.lending || needs.lending->is_everything()) return nullptr;
  const auto& [records, seed, shard, shards, skip] = *needs.lending;
  const std::uint64_t pieces = divide_up(facts.source.bytes() / needs.bytes(), chunk.records);
  constexpr std::uint64_t most_pieces = std::uint64_t{1} << 28;  // whose list takes a GiB
  if (pieces > most_pieces) {
    throw Error(
        ErrorKind::usage,
        group_digits(std::to_string(pieces)) + " chunks are too many to be shuffled or sharded",
        {.why = "a list of them is in memory", .hint = "give a chunk more rows"});
  }
  return std::make_shared<const ChunkOrder>(ChunkOrder::sample(pieces, seed, shard, shards, skip));
}

/// Returns the layout of the outputs. `input_bytes`: of a slot, for the inputs.
WriteLayout write_layout_for(const Facts& facts, const Wishes& wishes, const Layout& layout,
                             std::size_t input_bytes) {
  Cut cut{.chunk_records = layout.chunk_bytes / layout.record_bytes,
          .record_bytes = {},
          .order = layout.order,
          .share = wishes.needs.appends ? nullptr : wishes.needs.share};
  // Appended results have no places yet; one chunk shows their size.
  const std::uint64_t records = wishes.needs.appends
                                    ? std::min(layout.plan.records(), cut.chunk_records)
                                    : layout.plan.records();
  std::vector<InputStorage> files;
  std::string why_not_direct;  // of the first one that cannot be written directly
  for (const OutputFacts& output : facts.outputs) {
    const auto index = static_cast<std::uint32_t>(files.size());
    files.push_back({StorageMap({{0, output.offset, records * output.record_bytes}}), index});
    cut.record_bytes.push_back(output.record_bytes);
    if (why_not_direct.empty()) why_not_direct = output.why_not_direct;
  }
  IoConfig config =
      choose_write_config(wishes.options, facts.device, wishes.workers, why_not_direct);
  config.chunk_bytes = cut.chunk_records * output_bytes_of(facts);
  config.block_bytes = std::min(config.block_bytes, config.chunk_bytes);
  SequentialPlan plan(std::move(files), std::move(cut));
  // A GPU has copied the inputs out of the slot when the results arrive. The CPU computes in it.
  ResultPlaces places =
      places_of(plan, wishes.needs.appends, facts.device.reads_host_memory ? input_bytes : 0,
                wishes.needs.groups, config.direct);
  return {.plan = std::move(plan), .config = std::move(config), .places = std::move(places)};
}

/// Two buffers for inputs, or one if steps come in pieces, and two for results if there is an
/// output. A lane that reads host memory needs a buffer only for steps that are not one aligned
/// piece of it.
LaneBuffers lane_buffers_of(const Layout& layout, const DeviceFacts& device,
                            const StepNeeds& needs) {
  const bool loads = !layout.plan.reads_nothing();
  const std::size_t step = loads ? place_in_step(layout.plan, layout.plan.inputs()) : 0;
  const std::size_t structs = decoded_place(layout.plan, needs.decoded, needs.decoded.size());
  if (device.reads_host_memory) {
    return {.step = step, .inputs = layout.gathers ? 1u : 0u, .decoded = structs};
  }
  return {.step = step,
          .inputs = layout.plan.pieces_per_step() == 1 && !needs.lending ? 2u : 1u,
          .result = layout.writes ? layout.writes->places.bytes : 0,
          .decoded = structs};
}

/// Returns the number of slots for the chunks that are read while a GPU starts, so that the disk
/// does not wait for it; or 0. A GPU starts in a fifth of a second or more, in which a fast disk
/// delivers half a gigabyte. It takes longer to touch and page-lock more memory than that saves.
/// Reads from the page cache are fast enough to begin later.
std::size_t choose_slots_ahead(const Facts& facts, const Options& options, const Layout& layout) {
  constexpr std::uint64_t share_of_memory = 16, share_of_limit = 2;
  constexpr std::uint64_t most_slots = 4096;  // of small chunks, each of which has its own costs
  if (!facts.device_starts || !layout.reads.direct || layout.reads_by_turns()) return 0;
  if (layout.plan.reads_nothing()) return 0;
  std::uint64_t bytes = std::min(most_read_ahead_bytes, facts.host_bytes / share_of_memory);
  if (options.memory_bytes != 0) bytes = std::min(bytes, options.memory_bytes / share_of_limit);
  const std::uint64_t slots =
      std::min({bytes / layout.slot_bytes, most_slots, std::uint64_t{layout.plan.size()}});
  return slots > layout.most_slots ? slots : 0;
}

std::vector<std::uint64_t> record_bytes_of(const StepNeeds& needs) {
  std::vector<std::uint64_t> bytes;
  for (const RecordShape& record : needs.inputs) bytes.push_back(record.bytes);
  return bytes;
}

/// True if some chunk is not aligned in its slot.
bool has_unaligned(const SourceFacts& source, const StepNeeds& needs) {
  for (std::size_t i = 0; i < source.inputs.size(); ++i) {
    for (const Extent& extent : source.inputs[i].map) {
      if (extent.offset % needs.inputs[i].alignment != 0) return true;
    }
  }
  return false;
}

std::vector<Reason> reasons_for(const Facts& facts, const Wishes& wishes, const Layout& layout) {
  std::vector<Reason> reasons;
  if (layout.plan.size() != 0) {
    const IoConfig* const reads = layout.plan.reads_nothing() ? nullptr : &layout.reads;
    for (const IoConfig* used : {reads, layout.writes ? &layout.writes->config : nullptr}) {
      if (used != nullptr && used->reason) reasons.push_back(*used->reason);
    }
  }
  const std::uint64_t resident_bytes = wishes.needs.resident * layout.record_bytes;
  if (resident_bytes != 0 &&
      resident_bytes >= std::min<std::uint64_t>(layout.chunk_bytes, layout.plan.bytes())) {
    reasons.push_back(
        {.what = ReasonKind::resident_input, .figures = {resident_bytes, layout.plan.bytes()}});
  } else if (wishes.needs.in_order && could_read_both_ways(facts, wishes.options)) {
    reasons.push_back({ReasonKind::ordered_reads});
  }
  return reasons;
}

SequentialPlan plan_of(const Facts& facts, const StepNeeds& needs,
                       std::shared_ptr<const ChunkOrder> order, const ChunkSize& chunk) {
  return {facts.source.inputs,
          {.chunk_records = chunk.piece_records,
           .record_bytes = record_bytes_of(needs),
           .order = std::move(order),
           .share = needs.share,
           .pieces_per_step = chunk.records / chunk.piece_records,
           .before = needs.margin.before,
           .after = needs.margin.after,
           .records = needs.records,
           .resident_records = needs.resident}};
}

/// Gives the layout the lanes, slots and reads in flight for which there is memory.
void occupy(Layout& layout, const Occupancy& occupancy) {
  if (occupancy.lanes < layout.lanes) layout.why_lanes = ReasonKind::streams_within_limits;
  layout.lanes = occupancy.lanes;
  layout.slots = occupancy.slots;
  layout.most_slots = occupancy.most_slots;
  layout.tuned_depth = occupancy.tuned_depth;
  layout.reads.queue_depth = occupancy.queue_depth;
  // More threads would have nothing to do.
  if (!layout.tuned_depth) {
    layout.reads.threads = std::min(layout.reads.threads, layout.reads.queue_depth);
  }
}

}  // namespace

std::size_t StepNeeds::bytes() const {
  std::size_t sum = 0;
  for (const RecordShape& record : inputs) sum += record.bytes;
  return sum;
}

std::size_t StepNeeds::decoded_bytes() const {
  return std::accumulate(decoded.begin(), decoded.end(), std::size_t{0});
}

std::size_t decoded_place(const SequentialPlan& plan, std::span<const std::size_t> decoded,
                          std::size_t input) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < input; ++i) {
    const std::size_t records = plan.max_step_bytes(i) / plan.record_bytes(i);
    place += round_up(records * decoded[i], RecordShape::most_alignment);
  }
  return place;
}

std::size_t place_in_step(const SequentialPlan& plan, std::size_t input) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < input; ++i) {
    place = round_up(place, RecordShape::most_alignment) + plan.max_step_bytes(i);
  }
  return input < plan.inputs() ? round_up(place, RecordShape::most_alignment) : place;
}

ResultPlaces places_of(const SequentialPlan& writes, bool appends, std::size_t in_slot,
                       std::size_t groups, bool direct) {
  ResultPlaces places{.in_slot = in_slot};
  if (groups != 0) {
    // Smaller pieces are mostly the ends of pages: they are packed, and take no more room than one
    // step.
    constexpr std::size_t least_bytes = 16 * page_bytes;
    places.in_pages = direct && writes.max_step_bytes(0) / groups >= least_bytes;
    const std::size_t shifts = places.in_pages ? 2 * page_bytes * groups : 0;
    places.outputs.push_back(0);
    places.made = round_up(writes.max_step_bytes(0), page_bytes) + shifts;
    places.bytes = places.made + round_up((groups + 1) * sizeof(std::uint64_t), page_bytes);
    return places;
  }
  for (std::size_t i = 0; i < writes.inputs(); ++i) {
    places.outputs.push_back(places.bytes);
    places.bytes += round_up(writes.max_step_bytes(i), page_bytes);
    // Appended results lie as far from the beginning of a page as in their file.
    if (appends) places.bytes += page_bytes;
  }
  places.made = places.bytes;
  if (appends) places.bytes += round_up(writes.inputs() * sizeof(std::uint64_t), page_bytes);
  return places;
}

Layout choose_layout(const Facts& facts, const Wishes& wishes) {
  const Reading reading = choose_reading(facts, wishes);
  const ChunkSize chunk = choose_chunk(facts, wishes, reading);
  const StepNeeds& needs = wishes.needs;
  const std::shared_ptr<const ChunkOrder> order = choose_order(facts, needs, reading, chunk);
  SequentialPlan plan = plan_of(facts, needs, order, chunk);
  const bool gathers =
      plan.max_extents() > needs.inputs.size() || has_unaligned(facts.source, needs);
  IoConfig reads = reads_of(plan, facts, wishes, reading.config);
  const std::size_t record_bytes = needs.inputs.empty() ? output_bytes_of(facts) : needs.bytes();
  const std::size_t slack =
      Reader::slack_bytes(plan.max_runs(), reads.direct && facts.source.any_direct);
  const std::size_t loaded_bytes = reading.is_resident ? 0 : plan.max_bytes() + slack;
  const std::size_t input_bytes = round_up(std::max<std::size_t>(loaded_bytes, 1), page_bytes);

  Layout layout{.plan = std::move(plan),
                .order = order,
                .record_bytes = record_bytes,
                .chunk_bytes = chunk.records * record_bytes,
                .slot_bytes = input_bytes,
                .lanes = reading.lanes,
                .slots = 1,
                .most_slots = 1,
                .slots_ahead = 0,
                .reads = std::move(reads),
                .tuned_depth = {},
                .reads_inline = reading.reads_inline,
                .gathers = gathers,
                .buffers = {},
                .reasons = {},
                .why_chunk = chunk.why,
                .why_lanes = reading.why_lanes,
                .writes = {}};
  if (!facts.outputs.empty()) {
    layout.writes = write_layout_for(facts, wishes, layout, input_bytes);
    const ResultPlaces& places = layout.writes->places;
    layout.slot_bytes = std::max(input_bytes, places.in_slot + places.bytes);
  }
  layout.buffers = lane_buffers_of(layout, facts.device, needs);
  // Where steps take turns, the depth is not tuned, but a pass before may have found the best one.
  if (needs.resident != 0 && layout.reads_by_turns() && wishes.options.queue_depth == 0) {
    layout.reads.queue_depth = wishes.best_depth.value_or(layout.reads.queue_depth);
  }
  occupy(layout, choose_occupancy(facts, wishes, layout));
  layout.slots_ahead = choose_slots_ahead(facts, wishes.options, layout);
  layout.reasons = reasons_for(facts, wishes, layout);
  return layout;
}

std::size_t chunks_read(const Layout& layout, std::size_t depth) {
  if (layout.plan.reads_nothing()) return 1;  // the reader passes them on, one at a time
  return divide_up(depth * layout.reads.block_bytes, layout.plan.chunk_bytes());
}

std::size_t half_chunk_bytes(const Layout& layout, const StepNeeds& needs) {
  const std::uint64_t all = layout.plan.records() * layout.record_bytes;
  const std::uint64_t chunk = std::min<std::uint64_t>(layout.chunk_bytes, all);
  const std::size_t half = round_up(chunk / 2, needs.partition * layout.record_bytes);
  return half < chunk ? half : 0;
}

}  // namespace ooc::detail
