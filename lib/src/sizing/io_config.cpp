#include <ooc/detail/sizing/io_config.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/control_groups.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/error.hpp>

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace ooc::detail {

namespace {

/// Sizes for a device and a way of reading (bytes), and the reason for the size of the chunk.
struct ChunkSizes {
  std::size_t chunk;
  std::size_t block;
  ReasonKind why;
};

// Bytes that come from a disk go through the smallest pool that keeps the disk busy: the more
// memory the reads are spread over, the slower a disk becomes (lib/README.md, "Sizes"). The
// link is not the limit then, so small chunks will do. Bytes that come out of the page cache are to
// fill the link, which takes large chunks, out of a pool that fits the last-level cache. The CPU
// consumes a chunk in its slot, so there a chunk fits in a core's own cache.
constexpr ChunkSizes cuda_direct{1 * MiB, 512 * KiB, ReasonKind::chunk_for_disk};
constexpr ChunkSizes cuda_buffered{8 * MiB, 1 * MiB, ReasonKind::chunk_for_link};
constexpr ChunkSizes cpu_direct{512 * KiB, 512 * KiB, ReasonKind::chunk_for_core};
constexpr ChunkSizes cpu_buffered{1 * MiB, 1 * MiB, ReasonKind::chunk_for_core};
// The disk is the limit, unless it has little to read.
constexpr ChunkSizes cuda_mixed{1 * MiB, 512 * KiB, ReasonKind::chunk_for_disk};
constexpr ChunkSizes cuda_mostly_cached{4 * MiB, 512 * KiB, ReasonKind::chunk_for_link};
constexpr ChunkSizes cpu_mixed{1 * MiB, 512 * KiB, ReasonKind::chunk_for_core};
// A server sends 40 to 90 MB/s for each request, whatever its size, after a round trip.
constexpr ChunkSizes remote{8 * MiB, 8 * MiB, ReasonKind::chunk_for_requests};
constexpr std::size_t remote_requests = 16;              // in flight at first
constexpr std::size_t most_remote_threads = 12;          // one receives 2 GB/s
constexpr std::size_t direct_bytes_in_flight = 8 * MiB;  // the best of disks seen: 2 to 32
constexpr std::size_t most_cuda_readers = 12;     // they saturate the link; more only compete
constexpr std::size_t most_waiting_threads = 64;  // for the disk, where there is no io_uring
constexpr std::size_t most_writers = 4;           // tmpfs is fastest with so many
constexpr double worth_page_cache = 0.5;          // of an input, there
constexpr double little = 0.25;                   // of an input, on the disk
constexpr std::uint64_t few_bytes = 64 * MiB;     // to be read from it

std::uint64_t percent(double fraction) {
  return static_cast<std::uint64_t>(std::lround(fraction * 100));
}

/// Direct or buffered I/O, and the reason if it is not direct.
struct IoMode {
  bool direct;
  std::optional<Reason> reason{};
};

/// Chooses direct reads for data on a disk, and buffered reads for data in the page cache.
IoMode choose_read_mode(const Options& options, const SourceFacts& source) {
  if (!source.server.empty() && options.direct != DirectIo::yes) {
    return {false, Reason{ReasonKind::remote_reads, source.server}};
  }
  if (options.direct == DirectIo::no && !source.is_produced) return {false};
  if (source.not_direct) {
    if (options.direct == DirectIo::yes) throw source.not_direct->error;
    const ReasonKind what =
        source.is_produced ? ReasonKind::produced_reads : ReasonKind::buffered_reads;
    return {false, Reason{what, source.not_direct->why}};
  }
  const double cached = source.cached_or_none();
  if (options.direct == DirectIo::automatic && cached >= worth_page_cache) {
    return {false, Reason{.what = ReasonKind::cached_reads, .figures = {percent(cached)}}};
  }
  return {true};
}

ChunkSizes sizes_of(const DeviceFacts& device, bool direct) {
  if (device.uses_host_cores) return direct ? cpu_direct : cpu_buffered;
  return direct ? cuda_direct : cuda_buffered;
}

/// Makes chunks and requests as long as pieces, so that a thread decodes into a slot, and a chunk
/// waits for no other one.
ChunkSizes sizes_for_pieces(ChunkSizes sizes, std::uint64_t piece_bytes) {
  constexpr std::uint64_t most_bytes = 32 * MiB;  // each thread has a request of its own
  const auto wanted = static_cast<std::size_t>(std::min(piece_bytes, most_bytes));
  if (wanted > sizes.chunk) sizes = {wanted, sizes.block, ReasonKind::chunk_for_pieces};
  sizes.block = std::max(sizes.block, wanted);
  return sizes;
}

/// Completes the choice between direct and buffered I/O with the rest.
IoConfig config_of(const Options& options, ChunkSizes sizes, bool writes, std::size_t threads,
                   IoMode mode) {
  if (options.chunk_bytes != 0) sizes.chunk = options.chunk_bytes;
  if (options.block_bytes != 0) sizes.block = options.block_bytes;
  IoConfig config{.writes = writes,
                  .direct = mode.direct,
                  .engine = options.engine,
                  .threads = threads,
                  .chunk_bytes = sizes.chunk,
                  .block_bytes = sizes.block,
                  .queue_depth = options.queue_depth,
                  .why_chunk = sizes.why,
                  .reason = std::move(mode.reason)};
  // An io_uring copies cached pages one after another; several threads copy them at once.
  if (config.engine == EngineKind::automatic && !config.direct) config.engine = EngineKind::threads;
  if (config.queue_depth == 0) {
    const bool copies = config.engine == EngineKind::threads && !config.direct;
    config.queue_depth =
        copies ? 2 * threads
               : std::max<std::size_t>(direct_bytes_in_flight / config.block_bytes, 1);
  }
  // A thread that waits for a disk costs nothing, and one too few leaves the disk without work.
  if (config.direct && options.threads == 0) {
    config.threads = std::max(threads, std::min(config.queue_depth, most_waiting_threads));
  }
  return config;
}

/// Returns how to read from a server. Requests that are in flight wait, and take no core.
IoConfig choose_remote_config(const Options& options, Workers workers, IoMode mode) {
  if (options.engine != EngineKind::automatic && options.engine != EngineKind::http) {
    throw Error(ErrorKind::usage, "this engine does not read from a server",
                {.remedies = {{RemedyAction::unset, "Options::engine"}}});
  }
  mode.direct = false;  // also of local files beside it
  IoConfig config = config_of(options, remote, false,
                              std::min(workers.readers, most_remote_threads), std::move(mode));
  config.engine = EngineKind::http;
  if (options.queue_depth == 0) config.queue_depth = remote_requests;
  return config;
}

}  // namespace

std::size_t usable_cores() {
  cpu_set_t set;
  // sched_getaffinity() fails if the machine may have more cores than a cpu_set_t holds.
  const std::size_t cores = sched_getaffinity(0, sizeof(set), &set) == 0
                                ? static_cast<std::size_t>(CPU_COUNT(&set))
                                : std::thread::hardware_concurrency();
  // A container may see more cores than its limit of CPU time allows. The limit is read once, since
  // callers ask for it often.
  static const std::optional<double> of_time = cores_of_time();
  const double most = of_time ? std::ceil(*of_time) : std::numeric_limits<int>::max();
  return std::max<std::size_t>(std::min(cores, static_cast<std::size_t>(most)), 1);
}

Workers choose_workers(const Options& options, const DeviceFacts& device, std::size_t cores) {
  const auto rest = [&](std::size_t lanes) {
    return options.threads > lanes ? options.threads - lanes : 1;
  };
  if (!device.uses_host_cores) {
    const std::size_t lanes = options.streams != 0 ? options.streams : 2;
    const std::size_t readers =
        options.threads != 0 ? rest(lanes) : std::min(cores, most_cuda_readers);
    const ReasonKind why =
        options.streams != 0 ? ReasonKind::streams_as_asked : ReasonKind::two_streams;
    const std::size_t decoders = options.threads != 0 ? readers : cores;
    return {lanes, lanes, readers, std::min(readers, most_writers), decoders, why, why};
  }
  // On the CPU a lane computes for as long as a reader copies, or longer. As many lanes and readers
  // as cores keep all cores busy whichever of the two is slower.
  const std::size_t share = options.threads != 0 ? divide_up(options.threads, 2) : cores;
  const std::size_t all = options.threads != 0 ? options.threads : cores;
  const std::size_t lanes = options.streams != 0 ? options.streams : share;
  const std::size_t reading_lanes = options.streams != 0 ? options.streams : all;
  const std::size_t readers = options.threads != 0 ? rest(lanes) : cores;
  Workers workers{lanes, reading_lanes, readers, std::min(readers, most_writers), readers};
  if (options.streams != 0) {
    workers.why_lanes = workers.why_reading_lanes = ReasonKind::streams_as_asked;
  } else if (options.threads != 0) {
    workers.why_lanes = ReasonKind::stream_per_two_threads;
    workers.why_reading_lanes = ReasonKind::stream_per_thread;
  } else {
    workers.why_lanes = workers.why_reading_lanes = ReasonKind::stream_per_core;
  }
  return workers;
}

IoConfig choose_read_config(const Options& options, const DeviceFacts& device, Workers workers,
                            const SourceFacts& source) {
  IoMode mode = choose_read_mode(options, source);
  if (!source.server.empty()) return choose_remote_config(options, workers, std::move(mode));
  ChunkSizes sizes = sizes_of(device, mode.direct);
  Options possible = options;
  if (source.needs_threads) possible.engine = EngineKind::threads;
  if (source.piece_bytes != 0) {
    sizes = sizes_for_pieces(sizes, source.piece_bytes);
    if (source.decodes) workers.readers = workers.decoders;
    // Pieces are long, so some more requests than threads keep all of these busy.
    if (options.queue_depth == 0) possible.queue_depth = workers.readers + 2;
  }
  return config_of(possible, sizes, false, workers.readers, std::move(mode));
}

IoConfig choose_write_config(const Options& options, const DeviceFacts& device, Workers workers,
                             const std::string& why_not_direct) {
  IoMode mode{options.direct != DirectIo::no && why_not_direct.empty()};
  if (!mode.direct && options.direct != DirectIo::no) {
    mode.reason = {ReasonKind::buffered_writes, why_not_direct};
  }
  const ChunkSizes sizes = sizes_of(device, mode.direct);
  return config_of(options, sizes, true, workers.writers, std::move(mode));
}

bool can_mix_reads(const Options& options, const SourceFacts& source) {
  constexpr double least = 0.01;
  // Reading so little through the page cache takes no longer, and leaves it cached.
  const double cached = source.cached_or_none();
  const double from_disk = 1 - cached;
  if (from_disk < little && from_disk * static_cast<double>(source.bytes()) < few_bytes) {
    return false;
  }
  return source.server.empty() && options.direct == DirectIo::automatic &&
         options.engine != EngineKind::uring && options.threads == 0 && !source.not_direct &&
         cached > least && cached < 1 - least;
}

IoConfig choose_mixed_read_config(const Options& options, const DeviceFacts& device,
                                  Workers workers, double cached) {
  const ChunkSizes sizes = device.uses_host_cores ? cpu_mixed
                           : 1 - cached < little  ? cuda_mostly_cached
                                                  : cuda_mixed;
  IoConfig config = config_of(options, sizes, false, workers.readers, {true});
  config.engine = EngineKind::threads;  // which take either kind as it comes
  config.reason = {.what = ReasonKind::mixed_reads, .figures = {percent(cached)}};
  // Requests to the disk are the slow ones. As many of them must be in flight as if there were no
  // others, each with a thread that waits for it. Some more threads copy cached pages.
  constexpr std::size_t copying_threads = 8;
  const std::size_t to_disk = std::max<std::size_t>(direct_bytes_in_flight / config.block_bytes, 1);
  const double share = ChunkOrder::disk_share(1 - cached);
  if (options.queue_depth == 0) {
    config.queue_depth = static_cast<std::size_t>(std::ceil(static_cast<double>(to_disk) / share));
  }
  if (options.threads == 0) config.threads = to_disk + copying_threads;
  return config;
}

IoConfig through_page_cache(const Options& options, const DeviceFacts& device, Workers workers,
                            bool writes, std::string why) {
  const ReasonKind what = writes ? ReasonKind::buffered_writes : ReasonKind::buffered_reads;
  return config_of(options, sizes_of(device, false), writes,
                   writes ? workers.writers : workers.readers,
                   {false, Reason{what, std::move(why)}});
}

std::unique_ptr<Engine> make_engine(const Options& options, const IoConfig& config,
                                    const ChunkPool& pool, std::size_t slots,
                                    std::stop_token abandon) {
  const EngineOptions wanted{
      .writes = config.writes,
      .kind = config.engine,
      .depth = config.queue_depth,
      .threads = config.threads,
      .storage = pool.memory().first(std::min(slots, pool.size()) * pool.slot_bytes()),
      .storage_piece = pool.slot_bytes(),
      .abandon = std::move(abandon)};
  return options.make_engine ? options.make_engine(wanted) : make_engine(wanted);
}

}  // namespace ooc::detail
