#include "layout.hpp"

#include <ooc/io/error.hpp>
#include <ooc/io/reader.hpp>
#include <ooc/io/residency.hpp>
#include <ooc/io/units.hpp>

#include <sched.h>

#include <algorithm>
#include <cmath>

namespace ooc {

namespace {

/// Sizes that fit a device and a way of reading, in bytes.
struct Sizes {
  std::size_t chunk;
  std::size_t block;
};

// Bytes that come from a disk go through the smallest pool that keeps the disk busy: the more
// memory the reads are spread over, the slower a disk becomes (results/: 8 MiB 4.2 GB/s, 64
// MiB 3.5). The link is not the limit then, so small chunks will do. Bytes that come out of the
// page cache are to fill the link, which takes large chunks, out of a pool that fits the last-level
// cache. The CPU consumes a chunk where it lies, so there it fits in a core's own cache.
constexpr Sizes cuda_direct{1 * MiB, 512 * KiB};
constexpr Sizes cuda_buffered{8 * MiB, 1 * MiB};
constexpr Sizes cpu_direct{512 * KiB, 512 * KiB};
constexpr Sizes cpu_buffered{1 * MiB, 1 * MiB};
constexpr std::size_t direct_bytes_in_flight = 12 * MiB;  // the best of disks seen: 2 to 32
constexpr std::size_t most_cuda_readers = 12;    // they saturate the link; more only compete
constexpr std::size_t most_writers = 8;          // they copy 20 GB/s, faster than tmpfs has pages
constexpr std::size_t most_direct_extents = 64;  // each costs up to two blocks more of a slot
constexpr double mostly_cached = 0.5;

std::size_t usable_cores() {
  cpu_set_t set;
  const int failed = sched_getaffinity(0, sizeof(set), &set);
  return failed ? 1 : static_cast<std::size_t>(CPU_COUNT(&set));
}

std::string percent(double fraction) {
  return std::to_string(std::lround(fraction * 100)) + " %";
}

const File* first_without_direct(const Source& source) {
  const auto files = source.files();
  const auto found = std::ranges::find_if(files, [](const File& f) { return f.direct() < 0; });
  return found == files.end() ? nullptr : &*found;
}

/// How the bytes are read, and why if that was not the user's choice.
struct Way {
  bool direct;
  std::string reason{};
};

/// Direct reads for what lies on a disk, the page cache for what lies there.
Way choose_way(const Options& options, const Source& source, double cached) {
  const File* const refusing = first_without_direct(source);
  if (options.direct == DirectIo::no) return {false};
  if (refusing != nullptr && options.direct == DirectIo::yes) {
    throw Error(Cause::usage, "direct reads are not possible: " + refusing->why_not_direct(),
                {.path = refusing->path(), .hint = "leave out --direct yes"});
  }
  if (refusing != nullptr) return {false, refusing->why_not_direct()};
  if (options.direct == DirectIo::automatic && cached >= mostly_cached) {
    return {false, percent(cached) + " of the input is there already"};
  }
  return {true};
}

Sizes sizes_for(const Options& options, DeviceKind device, bool direct) {
  Sizes sizes = device == DeviceKind::cuda ? direct ? cuda_direct : cuda_buffered
                : direct                   ? cpu_direct
                                           : cpu_buffered;
  if (options.chunk_bytes != 0) sizes.chunk = options.chunk_bytes;
  if (options.block_bytes != 0) sizes.block = options.block_bytes;
  return sizes;
}

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

/// The bytes of input that a chunk has. `output_bytes`: of an element of the output, or 0.
/// Whichever of the two is larger gets the size that was chosen.
std::size_t choose_chunk(const Options& options, DeviceKind device, std::size_t lanes,
                         std::size_t wanted, std::size_t element_bytes, std::size_t output_bytes) {
  const std::size_t tile_bytes = tile_elements * element_bytes;
  if (options.chunk_bytes != 0) return round_up(options.chunk_bytes, tile_bytes);
  const std::size_t widest = std::max(element_bytes, output_bytes);
  const std::size_t buffers = output_bytes == 0 ? 1 : 2;
  const std::size_t tile_most = tile_elements * widest;
  wanted = round_up(wanted, tile_most);
  const std::size_t most = chunk_within_limits(options, device, lanes, wanted, buffers);
  return std::max<std::size_t>(most / tile_most, 1) * tile_bytes;
}

/// Where a result goes, and how it is written: directly to a disk, as it is read from one, and with
/// several threads to memory, since the kernel copies on the thread that calls it.
WriteLayout choose_write_layout(const Options& options, DeviceKind device, Workers workers,
                                const Output& output, std::uint64_t elements,
                                std::size_t chunk_elements, std::size_t place) {
  const bool direct = options.direct != DirectIo::no && output.file.direct() >= 0;
  const Sizes sizes = sizes_for(options, device, direct);
  const std::size_t chunk_bytes = chunk_elements * output.element_bytes;
  const Extent whole{0, output.file.data_offset(), elements * output.element_bytes};
  const EngineKind engine = direct ? options.engine : EngineKind::threads;
  return {.plan = SequentialPlan(std::span(&whole, 1), chunk_bytes),
          .chunk_bytes = chunk_bytes,
          .place = place,
          .block_bytes = std::min(sizes.block, chunk_bytes),
          .queue_depth = engine == EngineKind::threads ? 2 * workers.writers
                                                       : direct_bytes_in_flight / sizes.block,
          .engine = engine,
          .direct = direct};
}

std::string reason_for_write(const Options& options, const Output& output,
                             const WriteLayout& writes) {
  if (writes.direct || options.direct == DirectIo::no) return {};
  return "writing through the page cache: " + output.file.why_not_direct();
}

/// A slot for each chunk that is computed, waits for its lane, or is being read, and one more, so
/// that the reader need not wait for the slowest of them.
std::size_t slots_for(const Layout& layout, DeviceKind device, std::size_t lanes) {
  const std::size_t computing = device == DeviceKind::cuda ? 2 * lanes  // one in each input buffer
                                                           : lanes;     // consumed in the slot
  const std::size_t ready = layout.direct ? 1 : lanes;  // disks are slower than lanes
  const std::size_t reading =
      divide_up(layout.queue_depth * layout.block_bytes, layout.chunk_bytes);
  const std::size_t writing =
      !layout.writes ? 0
                     : lanes + divide_up(layout.writes->queue_depth * layout.writes->block_bytes,
                                         layout.writes->chunk_bytes);
  const std::size_t chunks = std::max<std::size_t>(layout.plan.size(), 1);
  return std::min(computing + ready + reading + writing + 1, chunks);
}

/// Fewer slots where the memory is limited. Throws Error(memory) if not even one is possible.
void limit_slots(const Options& options, DeviceKind device, Workers workers, Layout& layout) {
  if (options.memory_bytes == 0) return;
  // Gathering lanes of the CPU hold a chunk of their own each.
  const std::size_t gathered =
      layout.gathers && device == DeviceKind::cpu ? workers.lanes * layout.chunk_bytes : 0;
  const std::size_t for_slots =
      options.memory_bytes > gathered ? options.memory_bytes - gathered : 0;
  layout.slots = std::min(layout.slots, for_slots / layout.slot_bytes);
  if (layout.slots != 0) return;
  std::string why = "one chunk of " + std::to_string(layout.chunk_bytes) + " bytes must fit";
  if (gathered != 0) {
    why += ", and one more for each of " + std::to_string(workers.lanes) + " streams";
  }
  throw Error(Cause::memory,
              "the pool needs at least " + std::to_string(layout.slot_bytes + gathered) +
                  " bytes, the limit is " + std::to_string(options.memory_bytes),
              {.why = why, .hint = "raise --memory, or lower --chunk or --streams"});
}

}  // namespace

Workers choose_workers(const Options& options, DeviceKind device) {
  const std::size_t cores = usable_cores();
  const auto rest = [&](std::size_t lanes) {
    return options.threads > lanes ? options.threads - lanes : 1;
  };
  if (device == DeviceKind::cuda) {
    const std::size_t lanes = options.streams != 0 ? options.streams : 2;
    const std::size_t readers =
        options.threads != 0 ? rest(lanes) : std::min(cores, most_cuda_readers);
    return {lanes, readers, std::min(readers, most_writers)};
  }
  // On the CPU a lane computes for as long as a reader copies, or longer: as many of each as there
  // are cores keep all of these busy whichever of the two is slower.
  const std::size_t share = options.threads != 0 ? divide_up(options.threads, 2) : cores;
  const std::size_t lanes = options.streams != 0 ? options.streams : share;
  const std::size_t readers = options.threads != 0 ? rest(lanes) : cores;
  return {lanes, readers, std::min(readers, most_writers)};
}

Layout choose_layout(const Options& options, DeviceKind device, Workers workers,
                     const Source& source, std::size_t element_bytes, const Output* output) {
  const std::optional<double> cached = page_cache_fraction(source);
  Way way = choose_way(options, source, cached.value_or(0));
  const Sizes sizes = sizes_for(options, device, way.direct);
  const std::size_t chunk_bytes =
      choose_chunk(options, device, workers.lanes, sizes.chunk, element_bytes,
                   output == nullptr ? 0 : output->element_bytes);

  Layout layout{.plan = SequentialPlan(source.extents(), chunk_bytes),
                .chunk_bytes = chunk_bytes,
                .slots = 1,
                .slot_bytes = 0,
                .block_bytes = std::min(sizes.block, chunk_bytes),
                .queue_depth = 0,
                .engine = options.engine,
                .direct = way.direct,
                .gathers = false,
                .page_cache_fraction = cached,
                .reasons = {}};
  const std::size_t extents = layout.plan.max_extents();
  if (layout.direct && extents > most_direct_extents) {
    layout.direct = false;
    way.reason = "the input is many small files";
  }
  if (!way.reason.empty() && source.bytes() != 0) {
    layout.reasons.push_back("reading through the page cache: " + way.reason);
  }
  // One io_uring reads cached pages by itself, one after another; threads copy them at once.
  if (layout.engine == EngineKind::automatic && !layout.direct) layout.engine = EngineKind::threads;
  layout.queue_depth = options.queue_depth ? options.queue_depth
                       : layout.engine == EngineKind::threads
                           ? 2 * workers.readers
                           : direct_bytes_in_flight / sizes.block;
  layout.gathers = extents > 1 || std::ranges::any_of(source.extents(), [&](const Extent& extent) {
                     return extent.offset % element_bytes != 0;
                   });

  const std::uint64_t payload = std::min<std::uint64_t>(chunk_bytes, layout.plan.bytes());
  const std::size_t slack = Reader::slack_bytes(source.files(), extents, layout.direct);
  layout.slot_bytes = round_up(std::max<std::size_t>(payload + slack, 1), page_bytes);
  if (output != nullptr) {
    // On a GPU the input has left its slot when the result comes home; the CPU computes in it.
    const std::size_t place = device == DeviceKind::cuda ? 0 : layout.slot_bytes;
    layout.writes =
        choose_write_layout(options, device, workers, *output, source.bytes() / element_bytes,
                            chunk_bytes / element_bytes, place);
    const std::size_t result = payload / element_bytes * output->element_bytes;
    layout.slot_bytes =
        std::max<std::size_t>(layout.slot_bytes, place + round_up(result, page_bytes));
    const std::string reason = reason_for_write(options, *output, *layout.writes);
    if (!reason.empty() && source.bytes() != 0) layout.reasons.push_back(reason);
  }
  layout.slots = slots_for(layout, device, workers.lanes);
  limit_slots(options, device, workers, layout);
  return layout;
}

}  // namespace ooc
