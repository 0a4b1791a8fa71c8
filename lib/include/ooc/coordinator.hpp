#pragma once

#include <ooc/device.hpp>
#include <ooc/io/engine.hpp>
#include <ooc/io/source.hpp>
#include <ooc/io/target.hpp>
#include <ooc/pass_options.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ooc {

/// Elements of a tile, the unit in which floating-point results are built up: chunks are cut at
/// multiples of it, so that results depend on the data alone.
inline constexpr std::size_t tile_elements = 65536;

/// The most that a pass reads from a disk while a GPU starts (bytes).
inline constexpr std::uint64_t most_read_ahead_bytes = std::uint64_t{512} << 20;

/// Limits and choices of a coordinator: how much of the machine it uses, and how. Zero means that
/// the library chooses, by the device and the source. Options of a single pass are PassOptions.
struct Options {
  std::size_t chunk_bytes = 0;   // rounded up to whole tiles
  std::size_t streams = 0;       // chunk k goes to stream k % streams (see takes_any_chunk)
  std::size_t threads = 0;       // all CPU workers, reading and computing together
  std::size_t block_bytes = 0;   // of one read
  std::size_t queue_depth = 0;   // reads in flight
  std::size_t memory_bytes = 0;  // limit for the pool
  std::size_t device_bytes = 0;  // limit for what is allocated on a GPU
  EngineKind engine = EngineKind::automatic;
  DirectIo direct = DirectIo::automatic;

  /// Replaces make_engine: to measure without a disk, or to test with a broken one.
  std::function<std::unique_ptr<Engine>(const EngineOptions&)> make_engine{};
};

/// Where a stage's time went, summed over those who work at it (seconds).
struct StageTimes {
  double busy = 0;
  double waits_in = 0;   // for the stage before it
  double waits_out = 0;  // for room in the stage after it
};

/// What a pass did, and why it did it that way.
struct Stats {
  std::uint64_t bytes = 0;  // of the source, all of them unless `partial`
  bool partial = false;     // stopped before the end
  bool in_order = true;     // read from beginning to end: a partial result covers the first `bytes`
  double seconds = 0;
  double startup_seconds = 0;  // of `seconds`: until the first chunk was through
  double device_seconds = 0;   // of these: that the GPU took to start
  std::size_t passes = 1;      // over the source; `bytes` counts it once
  std::string device;
  std::string engine;  // "uring" or "threads"
  bool direct = false;
  bool lanes_read = false;  // each stream its own chunks: its time is divided between both
  /// XXH3-128 of the source's bytes, without headers, in their order and as they lie in the files:
  /// 32 hexadecimal digits, as `xxh128sum` prints them. If PassOptions::checksum asked for it and
  /// the pass came to its end.
  std::optional<std::string> checksum;
  double checksum_seconds = 0;       // that the hash took: only one stream at a time has it
  std::vector<std::string> reasons;  // a sentence for each choice that was not the user's
  std::vector<std::string> remarks;  // a sentence for each thing that did not go as planned
  /// Why chunks have their size, and why there are so many streams, also if the user has said so.
  std::string why_chunk, why_streams;
  std::optional<double> page_cache_fraction;
  double hole_fraction = 0;  // of the source, that was never written and comes from no disk
  std::size_t chunk_bytes = 0, chunks = 0, streams = 0, threads = 0;
  std::size_t slots = 0;  // of the pool, not all of which need be in use
  std::size_t block_bytes = 0, queue_depth = 0;
  std::size_t pool_bytes = 0;
  /// Of the source, for which there was room while a GPU started.
  std::uint64_t read_ahead_bytes = 0;
  std::size_t device_bytes = 0;  // the most that was allocated on a GPU at one time
  StageTimes disk, h2d, kernel, d2h, write;
  std::uint64_t bytes_written = 0;  // payload
  double commit_seconds = 0;        // of `seconds`: until the output was safe and in its place
};

/// Where a pass writes: `element_bytes` for each element of the source, from where the data of the
/// file begins.
struct Output {
  TargetFile& file;
  std::size_t element_bytes;
  bool swapped;  // not in this machine's byte order
};

/// What Coordinator::run() would say of a pass, as far as that is known before: the ways of reading
/// and writing, sizes, and reasons. `device_bytes` are those of the streams' buffers, to which
/// operators add. Reads no data, writes none (a file that is tried out will do for `output`), and
/// starts no device. Throws what the pass would throw for its options.
Stats dry_run_pass(const Options& options, DeviceKind device, const Source& source,
                   std::size_t element_bytes, const Output* output = nullptr,
                   const PassOptions& wanted = {});

/// What a pass does with each chunk, free of types. Operators get here through fold() and map().
class Operation {
 public:
  virtual ~Operation() = default;

  /// On the lane's thread, before its first chunk.
  virtual void begin(std::size_t lane, Stream& stream) = 0;

  /// `data` is aligned to 256 bytes or to the element, and in this machine's byte order;
  /// `first_byte` says where in the source it begins. `out` has room for as many elements of the
  /// output, all of which are to be set; without an output it is empty.
  virtual void process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
                       std::uint64_t first_byte, DeviceSpan<std::byte> out) = 0;

  /// On the lane's thread, after its last chunk.
  virtual void end(std::size_t lane, Stream& stream) = 0;

  /// Whether it is the same to the result, to the bit, which lane takes which chunks. Chunk k is
  /// lane k % lanes's otherwise; lanes of the CPU that load their own chunks are faster if each may
  /// take the next one whenever it is free.
  virtual bool takes_any_chunk() const noexcept { return false; }
};

/// Owns a device, its streams and the chunk pool, and runs passes over them. The pool stays between
/// passes and may grow there, never during one.
///
/// Threads: a coordinator runs one pass at a time, on whichever thread calls. A second one that is
/// begun meanwhile, on another thread or by a callback of the first, throws Error(usage); programs
/// that want two at once make two coordinators, which may read one Source.
///
/// Lifetime: a coordinator must outlive the Buffers that results of its passes hold.
class Coordinator {
 public:
  /// The right to use a coordinator, for as long as it lives. It must die before the coordinator.
  class [[nodiscard]] Reservation {
   public:
    /// Throws Error(usage) if another has it.
    explicit Reservation(std::atomic_flag& busy);

   private:
    struct Clear {
      void operator()(std::atomic_flag* busy) const noexcept { busy->clear(); }
    };
    std::unique_ptr<std::atomic_flag, Clear> busy_;
  };

  explicit Coordinator(std::unique_ptr<Device> device, Options options = {});
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Sends every chunk of the source through `operation`, as elements of `element_bytes`, and what
  /// it makes of them to `output`, which is left to the caller to publish. Returns when all threads
  /// of the pass have ended, and rethrows the first error of any of them. Throws Error(usage) if
  /// the coordinator runs a pass already, and Error(interrupted) if this one was stopped (see
  /// PassOptions::keep_partial). An output that was stopped is incomplete, and is to be discarded.
  Stats run(const Source& source, std::size_t element_bytes, Operation& operation,
            const PassOptions& wanted = {}, const Output* output = nullptr);

  /// The same for a caller that has the right already, and keeps it beyond the pass: what an
  /// operation holds of the lanes' memory is freed before another pass may use that.
  Stats run(const Reservation& pass, const Source& source, std::size_t element_bytes,
            Operation& operation, const PassOptions& wanted = {}, const Output* output = nullptr);

  /// Keeps other passes out until the reservation dies. Throws Error(usage) if the coordinator is
  /// busy.
  Reservation begin_pass();

  /// Reserves the device and its memory for a job that is no pass, such as matmul(). No pass can
  /// run until the reservation dies. The pool and the lanes' buffers of earlier passes are freed;
  /// the next pass allocates anew. What operators took of a stream's memory stays. To be called on
  /// a thread that is bound to the device. Throws Error(usage) if the coordinator is busy.
  Reservation reserve();

  Device& device() noexcept;
  const Options& options() const noexcept;

  /// The most streams that the next passes use, so the number of partial results of a fold.
  std::size_t streams() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ooc
