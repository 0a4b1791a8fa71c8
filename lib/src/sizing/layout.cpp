#include "sizing/layout.hpp"

#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <utility>

namespace ooc {

namespace {

/// A number with a comma between each three digits.
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

constexpr std::size_t most_direct_extents = 64;   // each costs up to two blocks more of a slot
constexpr double enough_for_lanes_to_read = 0.9;  // so that hardly a lane waits for the disk

/// The chunk of at most `wanted` bytes that keeps to the limits, as far as any can. `buffers`: how
/// many times a chunk's bytes lie in a slot, and in a lane's buffer, one for the input and perhaps
/// one for the output.
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

/// Bytes of input, and a sentence.
struct ChunkSize {
  std::size_t bytes;
  std::string why;
  std::size_t piece_bytes;  // what a slot holds of it
};

/// The largest part of a partition that is a power of two records and at most `wanted` bytes.
std::size_t piece_of(const Records& records, std::size_t wanted) {
  constexpr std::size_t least_bytes = 64 * KiB;
  const std::size_t elements =
      std::bit_floor(std::max<std::size_t>(std::max(wanted, least_bytes) / records.bytes, 1));
  return std::min(elements, records.partition) * records.bytes;
}

/// `output_bytes`: of an element of the output, or 0. Whichever of input and output is larger gets
/// the size that `config` has chosen. `in_pieces`: a slot may hold a part of a partition.
ChunkSize choose_chunk(const Options& options, const DeviceFacts& device, std::size_t lanes,
                       const IoConfig& config, const Records& records, std::size_t output_bytes,
                       bool in_pieces) {
  const std::size_t partition_bytes = records.partition_bytes();
  const auto with_pieces = [&](std::size_t bytes, std::size_t wanted, std::string why) {
    const bool splits = in_pieces && wanted < partition_bytes;
    return ChunkSize{bytes, std::move(why), splits ? piece_of(records, wanted) : bytes};
  };
  if (options.chunk_bytes != 0) {
    std::string why(config.why_chunk);
    if (options.chunk_bytes < partition_bytes) {
      why = "chunks are of " + grouped(records.partition) +
            " elements, the fewest there can be, though Options::chunk_bytes says less";
    }
    return with_pieces(round_up(options.chunk_bytes, partition_bytes), options.chunk_bytes,
                       std::move(why));
  }
  const std::size_t widest = std::max(records.bytes, output_bytes);
  const std::size_t buffers = output_bytes == 0 ? 1 : 2;
  const std::size_t partition_most = records.partition * widest;
  const std::size_t wanted = round_up(config.chunk_bytes, partition_most);
  const std::size_t most = chunk_within_limits(options, device, lanes, wanted, buffers);
  const std::size_t partitions = std::max<std::size_t>(most / partition_most, 1);
  return with_pieces(partitions * partition_bytes, std::min(most, config.chunk_bytes),
                     std::string(partitions * partition_most < wanted
                                     ? "chunks are as large as the limits of memory allow"
                                     : config.why_chunk));
}

/// Adds how a result is written, and its place in the slots.
void add_output(const Options& options, const DeviceFacts& device, Workers workers,
                const Output& output, std::size_t element_bytes, Layout& layout) {
  const auto made_of = [&](std::uint64_t bytes) {
    return bytes / element_bytes * output.element_bytes;
  };
  // On a GPU the input has left its slot when the result comes home; the CPU computes in it.
  const std::size_t place = device.reads_host_memory ? layout.slot_bytes : 0;
  const Extent whole{0, output.file.data_offset(), made_of(layout.plan.bytes())};
  const std::size_t chunk_bytes = made_of(layout.chunk_bytes);
  layout.writes = {.plan = SequentialPlan(std::span(&whole, 1), chunk_bytes, layout.interleaving),
                   .config = choose_write_config(options, device.kind, workers, output.file),
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
std::size_t slots_for(const Layout& layout, const DeviceFacts& device, std::size_t depth) {
  const std::size_t lanes = layout.lanes;
  if (layout.reads_inline) return std::min(lanes, std::max<std::size_t>(layout.plan.size(), 1));
  const std::size_t ready = layout.reads.direct ? 1 : lanes;  // disks are slower than lanes
  // On the CPU a chunk is consumed in its slot. A GPU's lane has one on the way to each of its
  // input buffers; but of what comes from a disk the first is copied long before the second is
  // there.
  const bool only_reads_disk = layout.reads.direct && !layout.interleaving && !layout.writes;
  const std::size_t with_lanes = device.reads_host_memory ? lanes + ready
                                 : only_reads_disk        ? lanes
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
         layout.reads.direct && !layout.reads_inline && !layout.interleaving &&
         layout.plan.bytes() >= least_bytes;
}

/// Slots for as many reads as are in flight at first, and for as many as there may be later.
void choose_slots(const Options& options, const DeviceFacts& device, Layout& layout) {
  constexpr std::size_t times_less = 4, times_more = 6;
  const std::size_t depth = layout.reads.queue_depth;
  layout.slots = layout.most_slots = slots_for(layout, device, depth);
  if (!can_be_tuned(options, layout)) return;
  const TunedDepth tuned{depth, std::max<std::size_t>(depth / times_less, 1), depth * times_more};
  const std::size_t most = slots_for(layout, device, tuned.most);
  if (most >= layout.plan.size()) return;
  layout.tuned_depth = tuned;
  layout.most_slots = most;
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
  layout.slots = layout.most_slots = std::min(layout.slots, layout.lanes);
  layout.why_lanes = "there are as many streams as the limit of memory has room for";
}

/// Fewer slots where the memory is limited. Throws Error(memory) if not even one is possible.
void limit_slots(const Options& options, const DeviceFacts& device, const Records& records,
                 Layout& layout) {
  if (options.memory_bytes == 0) return;
  // Gathering lanes of the CPU hold a chunk of their own each.
  const std::size_t lane_bytes =
      layout.gathers && device.reads_host_memory ? layout.plan.max_bytes() : 0;
  if (layout.reads_inline) limit_lanes(options.memory_bytes, lane_bytes, layout);
  const std::size_t gathered = layout.lanes * lane_bytes;
  const std::size_t for_slots =
      options.memory_bytes > gathered ? options.memory_bytes - gathered : 0;
  const std::size_t most = for_slots / layout.slot_bytes;
  if (layout.most_slots <= most) return;
  layout.tuned_depth.reset();
  layout.slots = layout.most_slots = std::min(layout.slots, most);
  if (layout.slots != 0) {
    // No more than the slots have room for.
    IoConfig& reads = layout.reads;
    const std::size_t requests_of_chunk =
        divide_up(layout.plan.chunk_bytes(), reads.block_bytes) + layout.plan.max_extents() - 1;
    reads.queue_depth = std::min(reads.queue_depth, layout.slots * requests_of_chunk);
    return;
  }
  const std::uint64_t chunk = layout.plan.max_bytes();
  const bool has_large_chunks = layout.chunk_bytes > records.partition_bytes();
  std::string why = "one chunk of " + std::to_string(chunk) + " bytes must fit, in whole pages";
  if (!has_large_chunks && chunk == layout.chunk_bytes) {
    why += "; it has " + grouped(records.partition) + " elements at least";
  }
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

Layout choose_layout(const Options& options, const DeviceFacts& device, Workers workers,
                     const Source& source, const Records& records, const Output* output) {
  const std::optional<double> cached = page_cache_fraction(source);
  const bool could_be_both_ways = source.extents().size() <= most_direct_extents &&
                                  can_mix_reads(options, source, cached.value_or(0));
  const bool both_ways = could_be_both_ways && !records.in_order;
  const bool lanes_may_read = device.kind == DeviceKind::cpu && output == nullptr &&
                              options.engine == EngineKind::automatic && !options.make_engine &&
                              options.threads <= workers.reading_lanes;  // else some are left
  const bool one_thread = lanes_may_read && options.threads == 1 && workers.reading_lanes == 1;
  const IoConfig config =
      both_ways ? choose_mixed_read_config(options, device.kind, workers, *cached)
      : one_thread && options.direct == DirectIo::automatic
          ? through_page_cache(options, device.kind, workers, false,
                               "one thread reads and computes, and the kernel reads ahead of it")
          : choose_read_config(options, device.kind, workers, source, cached.value_or(0));
  const bool reads_inline = one_thread || (lanes_may_read && !config.direct &&
                                           cached.value_or(0) >= enough_for_lanes_to_read);
  const std::size_t lanes = reads_inline ? workers.reading_lanes : workers.lanes;
  const bool in_pieces = !device.reads_host_memory && output == nullptr && !both_ways;
  const auto [chunk_bytes, why_chunk, piece_bytes] =
      choose_chunk(options, device, lanes, config, records,
                   output == nullptr ? 0 : output->element_bytes, in_pieces);

  std::shared_ptr<const Interleaving> interleaving;
  if (both_ways) {
    interleaving = std::make_shared<const Interleaving>(cached_pieces(source, chunk_bytes));
  }
  Layout layout{.plan = SequentialPlan(source.extents(), piece_bytes, interleaving,
                                       chunk_bytes / piece_bytes),
                .interleaving = interleaving,
                .chunk_bytes = chunk_bytes,
                .slots = 1,
                .most_slots = 1,
                .slot_bytes = 0,
                .reads = config,
                .tuned_depth = std::nullopt,
                .reads_inline = reads_inline,
                .lanes = lanes,
                .gathers = false,
                .page_cache_fraction = cached,
                .hole_fraction = hole_fraction(source),
                .reasons = {},
                .why_chunk = why_chunk,
                .why_lanes = reads_inline ? workers.why_reading_lanes : workers.why_lanes};
  const std::size_t extents = layout.plan.max_extents();
  if (config.direct && extents > most_direct_extents) {
    if (options.direct == DirectIo::yes) throw too_many_extents(extents);
    layout.reads =
        through_page_cache(options, device.kind, workers, false, "the input is many small files");
  }
  layout.reads.block_bytes = std::min(layout.reads.block_bytes, piece_bytes);
  layout.gathers = extents > 1 || std::ranges::any_of(source.extents(), [&](const Extent& extent) {
                     return extent.offset % alignment_of(records.bytes) != 0;
                   });

  const std::uint64_t payload = layout.plan.max_bytes();
  const std::size_t slack = Reader::slack_bytes(source.files(), extents, layout.reads.direct);
  layout.slot_bytes = round_up(std::max<std::size_t>(payload + slack, 1), page_bytes);
  if (output != nullptr) add_output(options, device, workers, *output, records.bytes, layout);
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
  limit_slots(options, device, records, layout);
  // More would have nothing to do.
  if (!layout.tuned_depth) {
    layout.reads.threads = std::min(layout.reads.threads, layout.reads.queue_depth);
  }
  return layout;
}

std::size_t chunks_read(const Layout& layout, std::size_t depth) {
  return divide_up(depth * layout.reads.block_bytes, layout.plan.chunk_bytes());
}

void start_at_depth(Layout& layout, std::size_t depth) {
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
  if (slots > layout.most_slots) layout.slots_ahead = slots;
}

LaneBuffers gpu_buffers(const Layout& layout) {
  return {.step = layout.plan.max_step_bytes(),
          .inputs = layout.plan.pieces_per_step() == 1 ? 2u : 1u,
          .result = layout.writes ? layout.writes->config.chunk_bytes : 0};
}

std::size_t half_chunk_bytes(const Layout& layout, const Records& records) {
  const std::uint64_t chunk = layout.plan.max_step_bytes();
  const std::size_t half = round_up(chunk / 2, records.partition_bytes());
  return half < chunk ? half : 0;
}

}  // namespace ooc
