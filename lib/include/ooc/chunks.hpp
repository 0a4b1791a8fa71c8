#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/observe/stats.hpp>
#include <ooc/detail/operators/chunk_writer.hpp>
#include <ooc/detail/operators/input_type.hpp>
#include <ooc/detail/operators/row.hpp>
#include <ooc/detail/operators/zip.hpp>
#include <ooc/detail/pass/pass_options.hpp>
#include <ooc/fields.hpp>

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
  ResidentMemory* resident = nullptr;
};

/// The sources of a pass, one or several.
inline std::vector<ChunkSource> sources_of(const Source& source) {
  return {{&source}};
}
inline std::vector<ChunkSource> sources_of(const Resident& kept) {
  std::vector<ChunkSource> sources;
  for (std::size_t i = 0; i < kept.sources(); ++i) {
    sources.push_back({&kept.source(i), &kept.memory()});
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
  /// Rows of each chunk; the one with the end of the data may have fewer. 0: the library chooses,
  /// and chunks may have other sizes on another machine.
  std::size_t rows = 0;

  /// If set, chunks come in an order that this number and the number of chunks give, everywhere the
  /// same. Rows within a chunk keep their order.
  std::optional<std::uint64_t> shuffle_seed{};

  /// Only every `shards`-th chunk, from number `shard` on. With a seed, chunks are shuffled first,
  /// so that all shards with one seed have each chunk once.
  std::size_t shard = 0;
  std::size_t shards = 1;  ///< number of shards; 1: all chunks

  /// Options of the pass. `progress` is called on a thread of the library.
  PassOptions pass{};
};

/// A chunk in the memory of the device, for as long as the lease lives. Movable, not copyable.
///
/// Lifetime: it must die before the Chunks that it comes from, and before the stream that was given
/// to next(). It may die while that stream still works on the chunk: the memory is used again
/// only when the work is done that was on the stream by then.
class OOC_API Lease {
 public:
  /// Returns the index of the first row in the data.
  std::uint64_t first() const noexcept;

  /// Returns the number of rows.
  std::size_t count() const noexcept;

  /// All rows, of one of the sources that were zipped. They are aligned to their elements, which
  /// are in this machine's byte order; structs are as they are in the file. Throws Error(usage) if
  /// there is no such source.
  DeviceSpan<const std::byte> bytes(std::size_t source = 0) const;

  /// The same as elements, or as structs that declare their fields. Throws Error(usage) unless the
  /// source holds elements of this type, or structs whose fields lie as in T; std::byte stands for
  /// any. Throws Error(bad_input) if a field is not there.
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

/// A pass whose operator is the caller's own loop: a training loop, a viewer, a library that is to
/// be called and does not call. The chunks of a source come to the device one after another, and
/// the next ones are loaded and copied while the caller works on this one.
///
///     ooc::Chunks chunks(coordinator, images, {.rows = 256, .shuffle_seed = epoch});
///     while (const auto batch = chunks.next(stream)) train(stream, batch->rows<float>());
///
/// Rows are those of the source's shape (see Source::columns()); sources that are zipped give the
/// same rows of each.
///
/// Threads: next() is called by one thread at a time; leases may die on any. The coordinator is
/// busy for as long as the Chunks lives. Destroying it ends the pass, also before the end of the
/// data.
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
  ~Chunks();
  Chunks(Chunks&&) noexcept;  ///< Takes the pass over; only destroy the other one.
  Chunks& operator=(Chunks&&) = delete;

  /// Blocks until the next chunk is on the device, and returns it; nothing at the end of the data.
  /// Work that is enqueued on `stream` from now on finds its rows, and work that is on the stream
  /// when the lease dies is done before the memory is used again. As many leases may live at once
  /// as Options::streams says, if it is set, unless limits of memory allow fewer; while all live,
  /// no chunk is loaded ahead.
  ///
  /// Throws Error(usage) if all these live and there may be another chunk, and for a checksum of
  /// chunks that are shuffled or sharded; `bad_input` if the sources have different numbers of
  /// rows; the error of the pass, if that has failed; Error(interrupted) after a stop, unless
  /// PassOptions::keep_partial is set: then the chunks end early.
  std::optional<Lease> next(Stream& stream);

  /// The same for a stream of the caller: a `cudaStream_t`. Null is CUDA's default stream, whose
  /// leases die on a thread that is bound to the coordinator's GPU, and is right on the CPU, where
  /// the caller's work is done when it returns. Throws Error(usage) for cudaStreamPerThread, which
  /// is another stream on each thread.
  std::optional<Lease> next(void* cuda_stream = nullptr);

  /// Returns the statistics of the pass, once next() has returned nothing. Throws Error(usage)
  /// before.
  const Stats& stats() const;

 private:
  struct State;

  Chunks(Coordinator& coordinator, const std::vector<detail::ChunkSource>& sources,
         ChunksOptions options);

  std::unique_ptr<State> state_;
};

}  // namespace ooc
