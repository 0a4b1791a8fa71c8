#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/detail/transfer/transfer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ooc::detail {

/// Loads the chunks of a plan into a pool in order, or single chunks of the caller.
class Reader final : public Transfer {
 public:
  /// `direct`: bypass the page cache for the files that allow it. `block_bytes`: the size of one
  /// request. All references must outlive the reader.
  Reader(std::span<const File> files, const Plan& plan, ChunkPool& pool,
         std::unique_ptr<Engine> engine, std::size_t block_bytes, bool direct);
  Reader(std::vector<const File*> files, const Plan& plan, ChunkPool& pool,
         std::unique_ptr<Engine> engine, std::size_t block_bytes, bool direct);

  /// Reads the chunks of the plan, from the first on. `end` returns their number; it is called
  /// before each chunk, and may return less each time. Throws Error, Aborted. In either case no
  /// request is in flight afterwards, except those of an engine that has died.
  void run(const std::function<std::size_t()>& end) { transfer_chunks(end); }

  /// Reads the whole plan.
  void run() {
    run([this] { return plan().size(); });
  }

  /// Reads one chunk, which belongs to the caller and not to the pool, on the calling thread. Its
  /// index says which chunk of the plan to read. Its memory is as large as a slot, and its segments
  /// have room for max_extents(). `slot`: the slot of the pool that an observer is told. Throws
  /// like run().
  void read_chunk(Chunk& chunk, std::size_t slot) {
    chunk.segments.clear();
    transfer_chunk(chunk, slot);
  }

  /// Returns the bytes that a slot needs in addition to the payload of a chunk, for the ends of the
  /// blocks around its runs of neighbours. `direct`: some of them may be read directly.
  static std::size_t slack_bytes(std::size_t max_runs, bool direct);

 private:
  Chunk* take(std::size_t index) override { return pool().begin(index); }
  Chunk* try_take(std::size_t index) override { return pool().try_begin(index); }
  void lay_out(Chunk& chunk, std::span<const Extent> extents, std::vector<Run>& runs) override;
  std::uint64_t end_of_request(const Run& run) const override;
  void prepare(Part& part, const Run& run) const override;
  void complete(Chunk& chunk) override { pool().publish(chunk, ChunkState::loaded); }
  bool reads_directly(const Extent& extent) const;

  std::vector<const File*> files_;
  bool direct_;
  std::vector<std::size_t> in_file_order_;  // memory for the extents of a chunk
};

}  // namespace ooc::detail
