#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc::detail {

/// The readers with which the lanes of a CPU load their own steps out of the page cache. Copying a
/// step takes a core as long as computing it, and the core that copies a step then computes it out
/// of its own cache. No data is passed from thread to thread. Each lane has a slot of the pool for
/// itself.
class InlineReaders {
 public:
  /// All references must outlive this object. The pool has a slot for each lane, or for each step
  /// if there are fewer of these.
  InlineReaders(const std::vector<const File*>& files, const SequentialPlan& plan, ChunkPool& pool,
                const IoConfig& config, std::size_t lanes, const PassOptions& wanted);

  /// Loads a step on the thread of the lane, into the memory of the step that this lane loaded
  /// before. Throws Error, Aborted.
  Chunk& load(std::size_t lane, std::size_t step);

  /// Totals of all lanes. Any thread may call bytes_done() and in_flight().
  std::uint64_t bytes_done() const noexcept;
  std::size_t in_flight() const noexcept;
  double seconds_busy() const noexcept;

 private:
  struct alignas(128) Loader {  // apart, so that lanes do not share cache lines
    std::unique_ptr<Reader> reader;
    std::unique_ptr<TransferReporter> reporter;
    Chunk chunk;
  };

  const SequentialPlan& plan_;
  ChunkPool& pool_;
  std::vector<Loader> loaders_;
};

}  // namespace ooc::detail
