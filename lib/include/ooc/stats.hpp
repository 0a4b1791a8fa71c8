#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/source.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ooc {

/// The work of one stage on one chunk, with begin and end. Times are from one clock for all passes,
/// so that several passes, and the program's own work between them, fit on one timeline.
struct TraceEvent {
  using Clock = std::chrono::steady_clock;  ///< of the host, also for work on a GPU

  /// `h2d` and `d2h` are copies to and from the device. Folds and maps on the CPU have none.
  enum class Kind : std::uint8_t { read, h2d, kernel, d2h, write };

  /// The index of work that does not belong to one chunk: in matmul a product of panels, or the
  /// copy of a panel that was kept in host memory to the device.
  static constexpr std::size_t no_chunk = std::numeric_limits<std::size_t>::max();

  Kind kind{};  ///< the stage
  /// The index of the lane or, for a read or write, of the slot of the pool. Slots that are used
  /// for a time only have the numbers above those of the others, and use them again.
  std::size_t worker = 0;
  /// Index of the chunk in the plan of the pass or, if devices share it, of the device.
  std::size_t chunk = 0;
  std::uint64_t bytes = 0;    ///< payload that was moved, or passed to the operator
  Clock::time_point begin{};  ///< of the work
  Clock::time_point end{};    ///< of the work
};

/// A callback for trace events. May be called by several threads at once.
using Observe = std::function<void(const TraceEvent&)>;

/// A choice that the library makes. Braces list the figures of its Reason; without braces there are
/// none. A choice that is marked with "why" has a cause in words, the others have none.
enum class ReasonKind : std::uint8_t {
  // Reads and writes.
  buffered_reads,   ///< through the page cache; why
  produced_reads,   ///< from a producer, once, from beginning to end; its name
  remote_reads,     ///< from a server; its name
  cached_reads,     ///< through the page cache, which has much of the input: {percent of it}
  mixed_reads,      ///< cached parts through the page cache: {percent of the input}; rest directly
  ordered_reads,    ///< from beginning to end, as was asked for; mixed reads were possible
  input_not_kept,   ///< on the device for the next pass, for lack of memory there
  resident_input,   ///< the first bytes are on the device already: {bytes, of the input}
  buffered_writes,  ///< through the page cache; why
  engine,           ///< not the preferred one, or one without registered buffers; why
  queue_depth,      ///< the fastest that was tried: {requests in flight, before tuning}
  no_read_ahead,    ///< nothing is read while a GPU starts, for lack of memory

  // The size of a chunk.
  chunk_for_disk,       ///< small: the disk is slower than the link
  chunk_for_link,       ///< large enough to fill the link
  chunk_for_core,       ///< fits in the cache of the core that consumes it
  chunk_for_requests,   ///< large: a server answers each request after a round trip
  chunk_for_pieces,     ///< as large as the pieces that are decoded, or as they may be
  chunk_for_margin,     ///< large beside the margin that is read twice
  chunk_for_kernels,    ///< large enough to hide the start of kernels, since nothing is loaded
  chunk_as_asked,       ///< Options::chunk_bytes, rounded up to a multiple of: {records}
  chunk_at_least,       ///< more than Options::chunk_bytes, the smallest possible: {records}
  chunk_within_limits,  ///< the largest within the limits of memory
  chunk_halved,         ///< a GPU had no memory for a larger one: {bytes, bytes before}; why

  // The number of streams.
  streams_as_asked,        ///< Options::streams
  two_streams,             ///< one computes while the other is being filled
  three_streams,           ///< one is being filled while the others compute
  stream_per_core,         ///< one for each core
  stream_per_thread,       ///< one for each of Options::threads, which reads what it computes
  stream_per_two_threads,  ///< one for every second of Options::threads; the others read
  streams_within_limits,   ///< as many as the limit of memory has room for

  // The blocks and panels of a matrix product. Loads: times that an operand is loaded, rounded up.
  product_blocks,  ///< each device computes a block of C: {rows of blocks, columns of blocks}
  resident_a,      ///< panels of A stay on the device: {loads of A, loads of B}
  resident_b,      ///< panels of B stay: {loads of A, loads of B}
  resident_c,      ///< a tile of C stays: {loads of A, loads of B, rows of tiles, columns of tiles}
  cached_panels,   ///< host memory keeps panels that are loaded again: {panels}
};

/// A choice with its cause and figures. It is data, so that a program can compare the reasons of
/// two passes and put them into its own words.
struct Reason {
  ReasonKind what;  ///< the choice that was made

  /// The cause in words, often those of the file system, the kernel or the device, for example
  /// "tmpfs has no disk under it". Empty if `what` and the figures are enough.
  std::string why{};
  std::vector<std::uint64_t> figures{};  ///< as listed at its ReasonKind

  friend bool operator==(const Reason&, const Reason&) = default;
};

/// How a pass reads, computes and writes: choices and sizes, and the reasons for them. Known before
/// the pass starts, except where a member says otherwise.
struct LayoutStats {
  std::string device{};      ///< its name, for example "NVIDIA H200"
  std::string engine{};      ///< "uring", "threads" or "http"
  bool direct = false;       ///< reads bypass the page cache
  bool is_produced = false;  ///< by a producer, on a thread of the pass, without an engine
  bool decodes = false;      ///< some input is stored in encoded pieces, such as compressed ones
  /// True if each stream reads its own chunks; its time is divided between reading and computing.
  bool reads_inline = false;
  bool in_order = true;           ///< false: a partial result does not cover the first bytes
  std::vector<Reason> reasons{};  ///< of choices that the library made
  /// The reason for the chunk size, also if the user set it. Empty for a matrix product.
  std::optional<Reason> why_chunk{};
  /// The reason for the number of streams, also if the user set it. Empty for a matrix product.
  std::optional<Reason> why_streams{};
  std::optional<double> page_cache_fraction{};  ///< of the source, before the pass
  double hole_fraction = 0;        ///< fraction of the source in holes, which need no disk reads
  std::size_t chunk_bytes = 0;     ///< size of a chunk
  std::size_t chunks = 0;          ///< number of chunks; of a producer, 0 before the pass
  std::size_t streams = 0;         ///< lanes that work at once
  std::size_t threads = 0;         ///< threads that read, compute or write
  std::size_t slots = 0;           ///< slots of the pool; not all need be in use
  std::size_t block_bytes = 0;     ///< size of a read request
  std::size_t queue_depth = 0;     ///< reads in flight: the depth that was best, after the pass
  std::size_t pool_bytes = 0;      ///< memory of the pool on the host
  std::size_t operator_bytes = 0;  ///< of a dry run: host memory for the findings of the operator
  /// Bytes of the source that can be read while a GPU starts.
  std::uint64_t read_ahead_bytes = 0;
  std::size_t device_bytes = 0;  ///< on a GPU: of the streams' buffers; the peak, after the pass
};

/// Times of a stage, summed over its threads (seconds).
struct StageTimes {
  double busy = 0;       ///< working on chunks
  double waits_in = 0;   ///< waiting for the previous stage
  double waits_out = 0;  ///< waiting for space in the next stage

  /// Adds the times of other threads.
  StageTimes& operator+=(const StageTimes& more) {
    busy += more.busy;
    waits_in += more.waits_in;
    waits_out += more.waits_out;
    return *this;
  }
};

/// Where the time of a pass went (seconds).
struct TimingStats {
  double seconds = 0;           ///< of the whole pass
  double startup_seconds = 0;   ///< part of `seconds` until the first chunk was done
  double device_seconds = 0;    ///< part of `startup_seconds` that the GPU took to start
  double checksum_seconds = 0;  ///< time spent hashing; one stream hashes at a time
  /// Part of `seconds` in which the output was made durable and moved into place.
  double commit_seconds = 0;
  /// Part of `seconds` in which findings were saved: see Checkpoint.
  double checkpoint_seconds = 0;
  StageTimes disk{};    ///< reads, with decoding, or a producer
  StageTimes decode{};  ///< the part of `disk` that decoded: an average of the threads that read
  StageTimes h2d{};     ///< copies to the device
  StageTimes kernel{};  ///< operators
  StageTimes d2h{};     ///< copies of results from the device
  StageTimes write{};   ///< writes
};

/// The outcome of a pass.
struct OutcomeStats {
  /// Processed records of each input, or of the outputs if there is none; all unless `partial`. Not
  /// set for a matrix product.
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< of the source that were processed, as they are stored
  /// The processed records, counted from the first of the inputs, if devices or processes shared
  /// the pass. If empty, the first `records` were processed.
  std::vector<RecordRange> covers{};
  std::uint64_t stored_bytes = 0;    ///< of encoded pieces that were read, in all passes
  std::uint64_t bytes_written = 0;   ///< payload only
  std::uint64_t resident_bytes = 0;  ///< bytes that were on the device already, in all passes
  /// Bytes that an earlier run had processed, in all passes: see Checkpoint.
  std::uint64_t resumed_bytes = 0;
  std::size_t checkpoints = 0;  ///< times that findings were saved
  std::uint64_t retries = 0;    ///< read requests that were repeated, mostly to servers
  bool partial = false;         ///< stopped before the end
  std::size_t passes = 1;       ///< passes over the source; `bytes` counts it once
  /// XXH3-128 of the source's bytes as stored, without headers, in their order: 32 hexadecimal
  /// digits, as `xxh128sum` prints them. Set if PassOptions::checksum is true and the pass was
  /// complete.
  std::optional<std::string> checksum{};
  std::vector<std::string> remarks{};  ///< a sentence for each deviation or problem
};

/// The share of one of several devices in a pass.
struct DeviceShare {
  std::string device{};      ///< its name
  std::size_t streams = 0;   ///< lanes that worked on it
  std::uint64_t bytes = 0;   ///< of the source that it processed, in all passes
  double busy_seconds = 0;   ///< from its first step to its last
  double start_seconds = 0;  ///< before its first step
  double idle_seconds = 0;   ///< after its last step, while others still worked
};

/// The share of one of several ranks in a pass (see Ranks).
struct RankShare {
  std::size_t rank = 0;  ///< its number
  std::string host{};    ///< the machine that it ran on
  /// The names of its devices; empty if no records were left for this rank.
  std::string device{};
  std::uint64_t bytes = 0;          ///< of the source that it processed, in all passes
  std::uint64_t bytes_written = 0;  ///< payload only
  double busy_seconds = 0;          ///< from its first step to its last
  double wait_seconds = 0;   ///< part of that in which threads waited for the next records, summed
  double start_seconds = 0;  ///< before its first step
  double idle_seconds = 0;   ///< after its last step, while others still worked
};

/// Statistics of a pass or of a job of several passes. A dry run sets the layout and, in the
/// outcome, the bytes and the passes.
///
///     const auto [value, stats] = ooc::fold(coordinator, op, source);
///     std::cout << double(stats.outcome.bytes) / stats.timing.seconds << " bytes a second\n";
struct Stats {
  LayoutStats layout{};    ///< how it reads, computes and writes
  TimingStats timing{};    ///< how long it took
  OutcomeStats outcome{};  ///< what it did
  /// The share of each device, if several shared a pass; else empty. In the sum of several passes,
  /// devices of the same name are one.
  std::vector<DeviceShare> devices{};
  /// The share of each rank, if several shared a pass; else empty. `outcome` is of all ranks,
  /// `layout` and `timing` of this one.
  std::vector<RankShare> ranks{};

  /// Adds the next pass over the same source: times, passes and the parts of devices and ranks are
  /// added up. The layout is that of the next pass, or of the first if the next one found data on
  /// the device, with the largest sizes in memory, the page cache as before the first pass, and the
  /// reasons of both.
  OOC_API Stats& operator+=(const Stats& next);

  /// Adds what another device did in the same pass, at the same time: bytes, the times of stages,
  /// and sizes in memory.
  OOC_API Stats& add_beside(const Stats& other);
};

/// The result of a pass: `const auto [value, stats] = ooc::fold(coordinator, op, source);`.
template <class T>
struct Result {
  T value;      ///< made by the operator
  Stats stats;  ///< of the pass
};

}  // namespace ooc
