#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/io/source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace ooc {

/// Which chunks a lane takes that loads its own.
enum class LaneTakes { its_share, any };

/// Reads for lanes that load their own chunks: out of the page cache, which takes a core as long as
/// to compute, a chunk is then computed by the core that has it in its cache. Nothing is handed
/// from thread to thread: of the pool each lane has a slot for itself, whose turns are not used.
/// Chunk k is lane k % lanes's, or where that is the same to the operation (`LaneTakes::any`) the
/// next lane's that is free: cores are not equally fast, and the slowest would be waited for.
class LaneReaders {
 public:
  /// All references must outlive it. The pool has a slot for each lane, or each chunk.
  LaneReaders(const Source& source, const SequentialPlan& plan, ChunkPool& pool,
              const IoConfig& config, std::size_t lanes, LaneTakes takes,
              const PassOptions& wanted);

  /// Loads the lane's next chunk, which replaces the one before. Null if there is none, or the pass
  /// was stopped before it: all lanes agree on the chunk before which it was, so that what is
  /// computed is a prefix. Throws Error, Aborted.
  Chunk* load_next(std::size_t lane);

  std::uint64_t bytes_done() const noexcept;
  std::size_t in_flight() const noexcept;
  double seconds_busy() const noexcept;  // of all lanes together

 private:
  struct alignas(128) Loader {  // apart, so that lanes do not share cache lines
    std::unique_ptr<Reader> reader;
    std::unique_ptr<TransferReporter> reporter;
    Chunk chunk;
    std::size_t next;  // of its share
    bool has_stopped = false;
  };

  std::optional<std::size_t> take_any();
  std::optional<std::size_t> take_of_share(Loader& loader);
  bool is_before_the_end(std::size_t chunk);
  void stop(Loader& loader);

  const SequentialPlan& plan_;
  ChunkPool& pool_;
  LaneTakes takes_;
  std::stop_token stop_;
  std::vector<Loader> loaders_;
  /// How far the lanes have come: `end`, one past the last chunk that a lane has begun, in the
  /// lower bits, and above them how many lanes begin no chunk of their share from there on. Both
  /// are one word, so that no lane sees the one without the other.
  std::atomic<std::uint64_t> begun_{0};
};

}  // namespace ooc
