#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/records.hpp>
#include <ooc/stats.hpp>
#include <ooc/target.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

class Lender;
struct LentStep;

/// Gives a step back to its lane, in the order of a stream's work.
struct OOC_API GiveBack {
  std::shared_ptr<Lender> lender;
  Stream* stream;

  void operator()(LentStep* step) const noexcept;
};

/// A source of chunks, and the memory that keeps it on the device, or null.
struct ChunkSource {
  const Source* source;
  std::shared_ptr<ResidentMemory> resident{};
};

/// The sources of a pass, one or several.
inline std::vector<ChunkSource> sources_of(const Source& source) {
  return {{&source}};
}
inline std::vector<ChunkSource> sources_of(const Resident& kept) {
  std::vector<ChunkSource> sources;
  for (std::size_t i = 0; i < kept.sources(); ++i) {
    sources.push_back({&kept.source(i), memory_of(kept)});
  }
  return sources;
}
template <std::size_t count>
std::vector<ChunkSource> sources_of(const Zipped<count>& zipped) {
  std::vector<ChunkSource> sources;
  for (std::size_t i = 0; i < count; ++i) sources.push_back({&zipped[i]});
  return sources;
}

}  // namespace detail

/// Options of a loop over chunks.
struct ChunksOptions {
  /// Number of rows of each chunk; the chunk at the end of the data may have fewer. 0: the library
  /// chooses, and the number may differ between machines.
  std::size_t rows = 0;

  /// If set, chunks are shuffled. The order depends only on this seed and on the number of chunks,
  /// and is the same on every machine. Rows within a chunk keep their order.
  std::optional<std::uint64_t> shuffle_seed{};

  /// Selects every `shards`-th chunk, from number `shard` on. With a seed, chunks are shuffled
  /// first; the shards with one seed together have each chunk once.
  std::size_t shard = 0;
  std::size_t shards = 1;  ///< number of shards; 1: all chunks

  /// Leaves out the first chunks of these, after shuffling: to go on where another loop ended. The
  /// number of rows should be given then.
  std::size_t skip = 0;

  /// Options of the pass. `progress` is called on a thread of the library.
  PassOptions pass{};
};

/// A chunk in the memory of the device, for as long as the lease lives. Movable, not copyable.
///
/// Lifetime: a lease must be destroyed before its Chunks, and before the stream that was given to
/// next(). It may be destroyed while that stream still works on the chunk: the memory is used again
/// only after the work that is on the stream by then.
class OOC_API Lease {
 public:
  /// Returns the index of the first row in the data.
  std::uint64_t first() const noexcept;

  /// Returns the number of rows.
  std::size_t count() const noexcept;

  /// Returns all rows of one of the zipped sources. They are aligned to their elements, which are
  /// in this machine's byte order; structs are as in the file. Throws Error(usage) if there is no
  /// such source.
  DeviceSpan<const std::byte> bytes(std::size_t source = 0) const;

  /// Returns the rows as elements, or as structs that declare their fields. Throws Error(usage)
  /// unless the source holds elements of this type, or structs with the layout of T; std::byte
  /// stands for any type. Throws Error(bad_input) if a field is missing.
  template <class T>
  requires(IsElement<T> || detail::HasFields<T> ||
           std::same_as<T, std::byte>) DeviceRows<const T> rows(std::size_t source = 0)
  const {
    if constexpr (!std::same_as<T, std::byte>) require_type(source, type_of<T>());
    const DeviceSpan<const std::byte> all = bytes(source);
    const std::size_t size = all.size / sizeof(T);
    return {{reinterpret_cast<const T*>(all.data), size}, first(), size / count()};
  }

 private:
  friend class Chunks;
  explicit Lease(std::unique_ptr<detail::LentStep, detail::GiveBack> step)
      : step_(std::move(step)) {}

  void require_type(std::size_t source, const DType& wanted) const;

  std::unique_ptr<detail::LentStep, detail::GiveBack> step_;
};

/// A pass whose operator is the caller's own loop: a training loop, a viewer, or a library that
/// pulls its data. The chunks of a source come to the device one after another, and the next ones
/// are loaded and copied while the caller works on this one.
///
///     ooc::Chunks chunks(coordinator, images, {.rows = 256, .shuffle_seed = epoch});
///     while (const auto batch = chunks.next(stream)) train(stream, batch->rows<float>());
///
/// Rows are those of the source's shape (see Source::columns()); sources that are zipped give the
/// same rows of each.
///
/// Threads: next() is called by one thread at a time; leases may be destroyed on any thread. The
/// coordinator is busy during the lifetime of the Chunks, whose destructor ends the pass, even
/// before the end of the data.
///
/// Lifetime: the coordinator and the sources must outlive it.
class OOC_API Chunks {
 public:
  /// Begins to read. Throws Error(usage) if the coordinator is busy, or for shards that do not
  /// exist; `bad_input` if rows of a source have different lengths; `memory` if no thread can be
  /// started.
  template <detail::PassSource From>
  Chunks(Coordinator& coordinator, const From& from, ChunksOptions options = {})
      : Chunks(coordinator, detail::sources_of(from), std::move(options)) {}
  Chunks(Coordinator&, Source&&, ChunksOptions = {}) = delete;  // it would end before the loop
  Chunks(Coordinator&, Resident&&, ChunksOptions = {}) = delete;
  ~Chunks();                  ///< Stops the pass, as by PassOptions::abandon.
  Chunks(Chunks&&) noexcept;  ///< Takes the pass over; only destroy the other one.
  Chunks& operator=(Chunks&&) = delete;

  /// Blocks until the next chunk is on the device, and returns it; nothing at the end of the data.
  /// Work enqueued on `stream` from now on sees its rows. Work that is on the stream when the lease
  /// is destroyed completes before the memory is used again. At most Options::streams leases may
  /// exist at once, if that is set, or fewer within limits of memory; while all exist, no chunk is
  /// loaded ahead.
  ///
  /// Throws Error(usage) if all of these exist and there may be another chunk, and for a checksum
  /// of chunks that are shuffled or sharded; `bad_input` if the sources have different numbers of
  /// rows; the error of the pass, if that has failed; Error(interrupted) after a stop, unless
  /// PassOptions::keep_partial is set: then the chunks end early.
  [[nodiscard]] std::optional<Lease> next(Stream& stream);

  /// Like next(Stream&), for a `cudaStream_t` of the caller. Null is CUDA's default stream; its
  /// leases must be destroyed on a thread that is bound to the coordinator's GPU. On the CPU, pass
  /// null: the caller's work is done when it returns. Throws Error(usage) for cudaStreamPerThread,
  /// which is another stream on each thread.
  [[nodiscard]] std::optional<Lease> next(void* cuda_stream = nullptr);

  /// Waits until there is a chunk for next(), or there will be none, but no longer than `time`.
  /// Returns false if that has passed. For programs that look at something else meanwhile, such as
  /// signals.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time);

  /// Returns the number of chunks. Blocks until the pass has begun. Returns nothing for a source
  /// that is produced, and if the pass has failed to begin, which next() reports.
  [[nodiscard]] std::optional<std::size_t> size() const;

  /// Returns the number of leases that can exist at once. Blocks like size().
  [[nodiscard]] std::size_t most_leases() const;

  /// Returns the statistics of the pass, once next() has returned nothing. Throws Error(usage)
  /// before.
  const Stats& stats() const;

 private:
  struct State;

  Chunks(Coordinator& coordinator, const std::vector<detail::ChunkSource>& sources,
         ChunksOptions options);

  std::unique_ptr<State> state_;
};

/// Options of a ChunkWriter.
struct ChunkWriterOptions {
  std::vector<std::uint64_t> row_shape{};  ///< of a row; empty: the file is a sequence of elements
  std::size_t room_rows = 65'536;          ///< maximum number of rows, or elements, of a put()
};

/// The counterpart of Chunks: a file that the caller's own loop writes. Rows are computed in memory
/// of the device, and appended to a Target; the file appears when it is committed, or not at all.
///
///     ooc::ChunkWriter out(coordinator, {"scaled.npy"}, ooc::type_of<float>());
///     while (const auto chunk = chunks.next(stream)) {
///       scale(stream, chunk->rows<float>(), out.room<float>());
///       out.put(stream, chunk->count());
///     }
///     const std::uint64_t rows = out.commit();
///
/// There are two rooms: while one is copied and written, the caller fills the other. The device
/// works meanwhile; the file is written on the caller's thread, through the page cache.
///
/// Threads: used by one thread at a time, which is bound to the device (Device::bind_to_thread()).
/// Lifetime: the coordinator must outlive the writer, and so must the streams until it is committed
/// or destroyed. The coordinator may run a pass meanwhile.
class OOC_API ChunkWriter {
 public:
  /// Begins a file of elements or structs of `type`, in the order in which they are put. Throws
  /// Error as map() does for a target, and Error(memory).
  ChunkWriter(Coordinator& coordinator, const Target& target, const DType& type,
              const ChunkWriterOptions& options = {});
  /// Discards the file, unless it was committed.
  ~ChunkWriter();
  ChunkWriter(ChunkWriter&&) noexcept;  ///< Takes the file over; only destroy the other one.
  ChunkWriter& operator=(ChunkWriter&&) = delete;

  /// Returns room for ChunkWriterOptions::room_rows rows, which work that is enqueued from now on
  /// may fill. Calling it again before put() returns the same room. Throws Error(usage) if the file
  /// has another type than T, unless T is std::byte; Error(output) if what was put before cannot be
  /// written.
  template <class T>
  DeviceRows<T> room() {
    if constexpr (!std::same_as<T, std::byte>) require_type(type_of<T>());
    const DeviceSpan<std::byte> all = next_room();
    return {{reinterpret_cast<T*>(all.data), all.size / sizeof(T)}, rows(), columns()};
  }

  /// Appends the first `count` rows of the room, as the work on the stream leaves them. Throws
  /// Error(usage) for more rows than there is room for, or without a room.
  void put(Stream& stream, std::size_t count);

  /// Returns the number of rows that were put.
  std::uint64_t rows() const noexcept;

  /// Waits until all rows are written, makes the file durable and moves it into place. Returns the
  /// number of its rows. Nothing can be put afterwards. Throws Error(output).
  std::uint64_t commit();

 private:
  struct State;

  std::size_t columns() const noexcept;
  void require_type(const DType& wanted) const;
  DeviceSpan<std::byte> next_room();

  std::unique_ptr<State> state_;
};

}  // namespace ooc
