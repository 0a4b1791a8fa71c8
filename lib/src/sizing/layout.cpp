#include "sizing/layout.hpp"

#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <utility>

namespace ooc {

namespace {

constexpr std::size_t most_direct_extents = 64;   // each costs up to two blocks more of a slot
constexpr double enough_for_lanes_to_read = 0.9;  // so that hardly a lane waits for the disk

/// The chunk of at most `wanted` bytes that keeps to the limits, as far as any can. `buffers`: how
/// many times a chunk's bytes lie in a slot, and in a lane's buffer, one for the input and perhaps
/// one for the output.
std::size_t chunk_within_limits(const Options& options, DeviceKind device, std::size_t lanes,
                                std::size_t wanted, std::size_t buffers) {
  std::size_t most = wanted;
  if (options.memory_bytes != 0) {
    most = std::min(most, options.memory_bytes / (2 * (lanes + 1) * buffers));
  }
  if (options.device_bytes != 0 && device == DeviceKind::cuda) {
    // Two buffers of each kind a lane, and as much again for what operators keep there.
    most = std::min(most, options.device_bytes / (4 * lanes * buffers));
  }
  return most;
}

/// Bytes of input, and a sentence.
struct ChunkSize {
  std::size_t bytes;
  std::string_view why;
};

/// `output_bytes`: of an element of the output, or 0. Whichever of input and output is larger gets
/// the size that `way` has chosen.
ChunkSize choose_chunk(const Options& options, DeviceKind device, std::size_t lanes,
                       const IoConfig& config, std::size_t element_bytes,
                       std::size_t output_bytes) {
  const std::size_t tile_bytes = tile_elements * element_bytes;
  if (options.chunk_bytes != 0) {
    return {round_up(options.chunk_bytes, tile_bytes),
            options.chunk_bytes < tile_bytes ? "chunks are of 65,536 elements, the fewest there "
                                               "can be, though Options::chunk_bytes says less"
                                             : config.why_chunk};
  }
  const std::size_t widest = std::max(element_bytes, output_bytes);
  const std::size_t buffers = output_bytes == 0 ? 1 : 2;
  const std::size_t tile_most = tile_elements * widest;
  const std::size_t wanted = round_up(config.chunk_bytes, tile_most);
  const std::size_t most = chunk_within_limits(options, device, lanes, wanted, buffers);
  const std::size_t tiles = std::max<std::size_t>(most / tile_most, 1);
  return {tiles * tile_bytes, tiles * tile_most < wanted
                                  ? "chunks are as large as the limits of memory allow"
                                  : config.why_chunk};
}

/// Adds how a result is written, and its place in the slots.
void add_output(const Options& options, DeviceKind device, Workers workers, const Output& output,
                std::size_t element_bytes, Layout& layout) {
  const auto made_of = [&](std::uint64_t bytes) {
    return bytes / element_bytes * output.element_bytes;
  };
  // On a GPU the input has left its slot when the result comes home; the CPU computes in it.
  const std::size_t place = device == DeviceKind::cuda ? 0 : layout.slot_bytes;
  const Extent whole{0, output.file.data_offset(), made_of(layout.plan.bytes())};
  const std::size_t chunk_bytes = made_of(layout.chunk_bytes);
  layout.writes = {.plan = SequentialPlan(std::span(&whole, 1), chunk_bytes, layout.interleaving),
                   .config = choose_write_config(options, device, workers, output.file),
                   .place = place};
  IoConfig& config = layout.writes->config;
  config.chunk_bytes = chunk_bytes;
  config.block_bytes = std::min(config.block_bytes, chunk_bytes);
  const std::uint64_t result = std::min<std::uint64_t>(chunk_bytes, whole.bytes);
  layout.slot_bytes =
      std::max<std::size_t>(layout.slot_bytes, place + round_up(result, page_bytes));
}

/// A slot for each chunk that is computed, waits for its lane, or is being read, and one more, so
/// that the reader need not wait for the slowest of them. `depth`: reads in flight.
std::size_t slots_for(const Layout& layout, DeviceKind device, std::size_t depth) {
  const std::size_t lanes = layout.lanes;
  if (layout.lanes_read) return std::min(lanes, std::max<std::size_t>(layout.plan.size(), 1));
  const std::size_t ready = layout.reads.direct ? 1 : lanes;  // disks are slower than lanes
  // On the CPU a chunk is consumed in its slot. A GPU's lane has one on the way to each of its
  // input buffers; but of what comes from a disk the first is copied long before the second is
  // there.
  const bool only_reads_disk = layout.reads.direct && !layout.interleaving && !layout.writes;
  const std::size_t with_lanes = device == DeviceKind::cpu ? lanes + ready
                                 : only_reads_disk         ? lanes
                                                           : 2 * lanes + ready;
  // Of two kinds by turns, the slow ones come out of order: with no more slots than are in flight,
  // the disk would wait for the oldest of them (the H200 machine's lost a quarter of its rate).
  const std::size_t reading = chunks_read(layout, depth) * (layout.interleaving ? 2 : 1);
  const IoConfig* const out = layout.writes ? &layout.writes->config : nullptr;
  const std::size_t writing =
      out != nullptr ? lanes + divide_up(out->queue_depth * out->block_bytes, out->chunk_bytes) : 0;
  const std::size_t chunks = std::max<std::size_t>(layout.plan.size(), 1);
  return std::min(with_lanes + reading + writing + 1, chunks);
}

/// Reads of a disk are tuned if the user has not fixed them, and if they go on for long enough.
bool can_be_tuned(const Options& options, const Layout& layout) {
  constexpr std::uint64_t least_bytes = 1 * GiB;
  // Threads that the user has counted bound what can be in flight.
  const bool threads_fixed = options.engine == EngineKind::threads && options.threads != 0;
  return options.queue_depth == 0 && options.block_bytes == 0 && !threads_fixed &&
         layout.reads.direct && !layout.lanes_read && !layout.interleaving &&
         layout.plan.bytes() >= least_bytes;
}

/// Slots for as many reads as are in flight at first, and for as many as there may be later.
void choose_slots(const Options& options, DeviceKind device, Layout& layout) {
  constexpr std::size_t times_less = 4, times_more = 6;
  const std::size_t depth = layout.reads.queue_depth;
  layout.slots = layout.pool_slots = slots_for(layout, device, depth);
  if (!can_be_tuned(options, layout)) return;
  const TunedDepth tuned{depth, std::max<std::size_t>(depth / times_less, 1), depth * times_more};
  const std::size_t most = slots_for(layout, device, tuned.most);
  if (most >= layout.plan.size()) return;
  layout.tuned_depth = tuned;
  layout.pool_slots = most;
}

Error too_many_extents(std::size_t extents) {
  return {
      ErrorKind::usage,
      "direct reads are not possible: a chunk lies in " + std::to_string(extents) + " pieces",
      {.why = "each takes a request of its own, and room for what lies around it",
       .remedies = {{Change::unset, "Options::direct"}, {Change::lower, "Options::chunk_bytes"}}}};
}

/// Lanes that load their own chunks have a slot each, and perhaps other memory: as many lanes as
/// there is room for, one at least.
void limit_lanes(std::size_t memory_bytes, std::size_t lane_bytes, Layout& layout) {
  if (layout.slots * layout.slot_bytes + layout.lanes * lane_bytes <= memory_bytes) return;
  const std::size_t most = memory_bytes / (layout.slot_bytes + lane_bytes);
  layout.lanes = std::clamp<std::size_t>(most, 1, layout.lanes);
  layout.slots = layout.pool_slots = std::min(layout.slots, layout.lanes);
  layout.why_lanes = "there are as many streams as the limit of memory has room for";
}

/// Fewer slots where the memory is limited. Throws Error(memory) if not even one is possible.
void limit_slots(const Options& options, DeviceKind device, std::size_t element_bytes,
                 Layout& layout) {
  if (options.memory_bytes == 0) return;
  // Gathering lanes of the CPU hold a chunk of their own each.
  const std::size_t lane_bytes =
      layout.gathers && device == DeviceKind::cpu ? layout.plan.max_bytes() : 0;
  if (layout.lanes_read) limit_lanes(options.memory_bytes, lane_bytes, layout);
  const std::size_t gathered = layout.lanes * lane_bytes;
  const std::size_t for_slots =
      options.memory_bytes > gathered ? options.memory_bytes - gathered : 0;
  const std::size_t most = for_slots / layout.slot_bytes;
  if (layout.pool_slots <= most) return;
  layout.tuned_depth.reset();
  layout.slots = layout.pool_slots = std::min(layout.slots, most);
  if (layout.slots != 0) {
    // No more than the slots have room for.
    IoConfig& reads = layout.reads;
    const std::size_t requests_of_chunk =
        divide_up(layout.chunk_bytes, reads.block_bytes) + layout.plan.max_extents() - 1;
    reads.queue_depth = std::min(reads.queue_depth, layout.slots * requests_of_chunk);
    return;
  }
  const std::uint64_t chunk = layout.plan.max_bytes();
  const bool has_large_chunks = layout.chunk_bytes > tile_elements * element_bytes;
  std::string why = "one chunk of " + std::to_string(chunk) + " bytes must fit, in whole pages";
  if (!has_large_chunks && chunk == layout.chunk_bytes) why += "; it has 65,536 elements at least";
  if (gathered != 0) {
    why += ", and one more for each stream, of which there are " + std::to_string(layout.lanes);
  }
  std::vector<Remedy> remedies{{Change::raise, "Options::memory_bytes"}};
  const bool has_more_streams = gathered != 0 && layout.lanes > 1;
  if (has_large_chunks) remedies.push_back({Change::lower, "Options::chunk_bytes"});
  if (has_more_streams) remedies.push_back({Change::lower, "Options::streams"});
  throw Error(ErrorKind::memory,
              "the pool needs at least " + std::to_string(layout.slot_bytes + gathered) +
                  " bytes, the limit is " + std::to_string(options.memory_bytes),
              {.why = why, .remedies = std::move(remedies)});
}

}  // namespace

Layout choose_layout(const Options& options, DeviceKind device, Workers workers,
                     const Source& source, std::size_t element_bytes, const Output* output,
                     bool in_order) {
  const std::optional<double> cached = page_cache_fraction(source);
  const bool could_be_both_ways = source.extents().size() <= most_direct_extents &&
                                  reads_both_ways(options, source, cached.value_or(0));
  const bool both_ways = could_be_both_ways && !in_order;
  const bool lanes_may_read = device == DeviceKind::cpu && output == nullptr &&
                              options.engine == EngineKind::automatic && !options.make_engine &&
                              options.threads <= workers.reading_lanes;  // else some are left
  const bool one_thread = lanes_may_read && options.threads == 1 && workers.reading_lanes == 1;
  const IoConfig config =
      both_ways ? choose_mixed_read_config(options, device, workers, *cached)
      : one_thread && options.direct == DirectIo::automatic
          ? through_page_cache(options, device, workers, false,
                               "one thread reads and computes, and the kernel reads ahead of it")
          : choose_read_config(options, device, workers, source, cached.value_or(0));
  const bool lanes_read = one_thread || (lanes_may_read && !config.direct &&
                                         cached.value_or(0) >= enough_for_lanes_to_read);
  const std::size_t lanes = lanes_read ? workers.reading_lanes : workers.lanes;
  const auto [chunk_bytes, why_chunk] = choose_chunk(options, device, lanes, config, element_bytes,
                                                     output == nullptr ? 0 : output->element_bytes);

  std::shared_ptr<const Interleaving> interleaving;
  if (both_ways) {
    interleaving = std::make_shared<const Interleaving>(cached_pieces(source, chunk_bytes));
  }
  Layout layout{.plan = SequentialPlan(source.extents(), chunk_bytes, interleaving),
                .interleaving = interleaving,
                .chunk_bytes = chunk_bytes,
                .slots = 1,
                .pool_slots = 1,
                .slot_bytes = 0,
                .reads = config,
                .tuned_depth = std::nullopt,
                .lanes_read = lanes_read,
                .lanes = lanes,
                .gathers = false,
                .page_cache_fraction = cached,
                .hole_fraction = hole_fraction(source),
                .reasons = {},
                .why_chunk = why_chunk,
                .why_lanes = lanes_read ? workers.why_reading_lanes : workers.why_lanes};
  const std::size_t extents = layout.plan.max_extents();
  if (config.direct && extents > most_direct_extents) {
    if (options.direct == DirectIo::yes) throw too_many_extents(extents);
    layout.reads =
        through_page_cache(options, device, workers, false, "the input is many small files");
  }
  layout.reads.block_bytes = std::min(layout.reads.block_bytes, chunk_bytes);
  layout.gathers = extents > 1 || std::ranges::any_of(source.extents(), [&](const Extent& extent) {
                     return extent.offset % alignment_of(element_bytes) != 0;
                   });

  const std::uint64_t payload = layout.plan.max_bytes();
  const std::size_t slack = Reader::slack_bytes(source.files(), extents, layout.reads.direct);
  layout.slot_bytes = round_up(std::max<std::size_t>(payload + slack, 1), page_bytes);
  if (output != nullptr) add_output(options, device, workers, *output, element_bytes, layout);
  if (source.bytes() != 0) {
    for (const IoConfig* used : {&layout.reads, layout.writes ? &layout.writes->config : nullptr}) {
      if (used != nullptr && !used->reason.empty()) layout.reasons.push_back(used->reason);
    }
  }
  if (could_be_both_ways && !both_ways) {
    layout.reasons.push_back(
        "reading from beginning to end, for the checksum, not cached and uncached parts by turns");
  }
  choose_slots(options, device, layout);
  limit_slots(options, device, element_bytes, layout);
  // More would have nothing to do.
  if (!layout.tuned_depth) {
    layout.reads.threads = std::min(layout.reads.threads, layout.reads.queue_depth);
  }
  return layout;
}

std::size_t chunks_read(const Layout& layout, std::size_t depth) {
  return divide_up(depth * layout.reads.block_bytes, layout.chunk_bytes);
}

void begin_with_depth(Layout& layout, std::size_t depth) {
  const std::size_t first =
      std::exchange(layout.reads.queue_depth,
                    std::clamp(depth, layout.tuned_depth->least, layout.tuned_depth->most));
  layout.slots += chunks_read(layout, layout.reads.queue_depth);
  layout.slots -= chunks_read(layout, first);
}

/// A GPU starts in a fifth of a second or more, in which a fast disk delivers half a gigabyte. With
/// more memory, what it takes to touch and page-lock that is more than what is won.
void read_ahead(const Options& options, Layout& layout) {
  constexpr std::uint64_t share_of_memory = 16, share_of_limit = 2;
  constexpr std::uint64_t most_slots = 4096;  // of small chunks, each of which has its own costs
  if (!layout.reads.direct || layout.interleaving || layout.plan.size() == 0) return;
  std::uint64_t bytes = std::min(most_read_ahead_bytes, available_host_bytes() / share_of_memory);
  if (options.memory_bytes != 0) bytes = std::min(bytes, options.memory_bytes / share_of_limit);
  const std::uint64_t slots =
      std::min({bytes / layout.slot_bytes, most_slots, std::uint64_t{layout.plan.size()}});
  if (slots > layout.pool_slots) layout.ahead_slots = slots;
}

std::size_t buffer_bytes(const Layout& layout) {
  return 2 * (layout.plan.max_bytes() + (layout.writes ? layout.writes->config.chunk_bytes : 0));
}

std::size_t half_chunk_bytes(const Layout& layout, std::size_t element_bytes) {
  const std::uint64_t chunk = layout.plan.max_bytes();
  const std::size_t half = round_up(chunk / 2, tile_elements * element_bytes);
  return half < chunk ? half : 0;
}

}  // namespace ooc
