#pragma once

#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/transfer/transfer.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace ooc::detail {

/// Writes the chunks of a plan from a pool to files, in order, each as soon as it is computed, and
/// gives their slots back.
class Writer final : public Transfer {
 public:
  /// `direct`: bypass the page cache, if a file allows it, for the whole blocks of an extent whose
  /// addresses in the slot are multiples of File::alignment(), too. The ends of an extent and all
  /// other bytes are written through the page cache. All references must outlive the writer.
  Writer(std::vector<OutputFile*> files, const Plan& plan, ChunkPool& pool,
         std::unique_ptr<Engine> engine, std::size_t block_bytes, bool direct);

  /// Writes until the plan or the sequence of the pool ends. Throws Error, Aborted. In either case
  /// no request is in flight afterwards, except those of an engine that has died.
  void run();

  /// Number of chunks at the beginning of the plan that are written. Any thread.
  std::size_t chunks_done() const noexcept { return chunks_done_.load(std::memory_order_acquire); }

 private:
  Chunk* take(std::size_t index) override { return pool().wait(index, ChunkState::computed); }
  Chunk* try_take(std::size_t index) override {
    return pool().is_at(index, ChunkState::computed) ? take(index) : nullptr;
  }
  void lay_out(Chunk& chunk, std::span<const Extent> extents, std::vector<Run>& runs) override;
  std::uint64_t end_of_request(const Run& run) const override;
  void prepare(Part& part, const Run& run) const override;
  void complete(Chunk& chunk) override;

  std::vector<OutputFile*> files_;
  bool direct_;
  std::vector<bool> is_done_;  // by chunk modulo the window of the pool, from the first that is not
  std::atomic<std::size_t> chunks_done_{0};
};

}  // namespace ooc::detail
