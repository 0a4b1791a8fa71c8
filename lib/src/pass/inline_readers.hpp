#pragma once

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/io/source.hpp>
#include <ooc/pass_options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc {

/// Readers with which the lanes of a CPU load their own steps out of the page cache: to copy them
/// takes a core as long as to compute, and a step is then computed by the core that has it in its
/// cache. Nothing is passed from thread to thread. Each lane has a slot of the pool for itself.
class InlineReaders {
 public:
  /// All references must outlive it. The pool has a slot for each lane, or for each step.
  InlineReaders(const Source& source, const SequentialPlan& plan, ChunkPool& pool,
                const IoConfig& config, std::size_t lanes, const PassOptions& wanted);

  /// Loads a step on the calling thread, that of the lane; it replaces the lane's step before.
  /// Throws Error, Aborted.
  Chunk& load(std::size_t lane, std::size_t step);

  /// Of all lanes together. bytes_done() and in_flight() may be called by any thread.
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

}  // namespace ooc
