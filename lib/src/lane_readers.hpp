#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/io/chunk_pool.hpp>
#include <ooc/io/plan.hpp>
#include <ooc/io/reader.hpp>
#include <ooc/io/source.hpp>
#include <ooc/io_way.hpp>
#include <ooc/reporters.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

namespace ooc {

/// Reads for lanes that load their own chunks: out of the page cache, which takes a core as long as
/// to compute, a chunk is then computed by the core that has it in its cache, and nothing is handed
/// from thread to thread.
class LaneReaders {
 public:
  /// All references must outlive it.
  LaneReaders(const Source& source, const SequentialPlan& plan, ChunkPool& pool, const IoWay& way,
              std::size_t lanes, const Options& options);

  /// Loads the lane's next chunk, `chunk`. False if the pass was stopped before it: all lanes agree
  /// on the chunk before which it was, so that what is computed is a prefix. Throws Error, Aborted.
  bool load(std::size_t lane, std::size_t chunk);

  /// The lane will load no more. To be called once for each.
  void leave(std::size_t lane);

  std::uint64_t bytes_done() const noexcept;
  std::size_t in_flight() const noexcept;
  double seconds_busy() const noexcept;  // of all lanes together

 private:
  struct Loader {
    std::unique_ptr<Reader> reader;
    std::unique_ptr<TransferReporter> reporter;
    bool has_stopped = false;
  };

  bool is_before_the_end(std::size_t lane, std::size_t chunk);

  ChunkPool& pool_;
  std::stop_token stop_;
  std::vector<Loader> loaders_;
  std::atomic<std::size_t> end_{0};      // behind the last chunk that some lane has begun
  std::atomic<std::size_t> stopped_{0};  // lanes that begin no chunk from end_ on
};

}  // namespace ooc
