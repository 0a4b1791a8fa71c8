#pragma once

#include <ooc/io/extent.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ooc {

/// The whole schedule of a pass, known before it starts: which extents chunk k is made of, to be
/// read in this order, or written. Extents are computed when they are asked for, so that a plan
/// takes no memory for its chunks, but for their order if that is not the sequence's.
class Plan {
 public:
  virtual ~Plan() = default;

  /// How many chunks there are.
  virtual std::size_t size() const noexcept = 0;

  /// The most extents that any chunk has.
  virtual std::size_t max_extents() const noexcept = 0;

  /// The extents of a chunk, written to `storage`, which has room for max_extents().
  virtual std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const = 0;
};

/// The order in which to read the pieces of a sequence, some of which lie in the page cache and
/// some on the disk: they take turns in proportion, so that both have work from the beginning to
/// the end.
class Interleaving {
 public:
  /// The disk's share of any stretch of the order while there is some of both, for its share of the
  /// whole. Of one smaller than an eighth, say, only a long stretch would keep the disk busy, and
  /// so a large pool.
  static double disk_share(double of_the_whole) noexcept;

  /// cached[i]: whether piece i lies in the page cache.
  explicit Interleaving(std::vector<bool> cached);

  std::size_t pieces() const noexcept { return order_.size(); }
  std::size_t piece(std::size_t chunk) const noexcept { return order_[chunk]; }
  bool is_cached(std::size_t piece) const noexcept { return cached_[piece]; }

 private:
  std::vector<bool> cached_;
  std::vector<std::uint32_t> order_;
};

/// One sequence of extents, cut into chunks of equal size, of which one may run across several
/// files.
class SequentialPlan final : public Plan {
 public:
  /// Cuts the sequence into chunks of `chunk_bytes`; the last may be shorter. `interleaving` gives
  /// their order, if it is not that of the sequence. `pieces_per_step` chunks are one step of a
  /// pass, and are in the order of the sequence then.
  SequentialPlan(std::span<const Extent> sequence, std::uint64_t chunk_bytes,
                 std::shared_ptr<const Interleaving> interleaving = nullptr,
                 std::size_t pieces_per_step = 1);

  std::size_t size() const noexcept override { return chunks_; }
  std::size_t max_extents() const noexcept override { return max_extents_; }
  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const override;

  /// Bytes of a chunk, but for the last.
  std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }

  /// Bytes of all chunks.
  std::uint64_t bytes() const noexcept { return ends_.empty() ? 0 : ends_.back(); }

  /// Bytes of the longest chunk.
  std::uint64_t max_bytes() const noexcept { return std::min(chunk_bytes_, bytes()); }

  /// The steps of a pass: step k is the chunks from first_piece(k) to first_piece(k + 1), and
  /// begins `step_begin(k)` bytes into the sequence.
  std::size_t steps() const noexcept;
  std::size_t pieces_per_step() const noexcept { return pieces_per_step_; }
  std::size_t first_piece(std::size_t step) const noexcept {
    return std::min(step * pieces_per_step_, chunks_);
  }
  std::uint64_t step_begin(std::size_t step) const noexcept {
    return begin(step * pieces_per_step_);
  }
  std::uint64_t step_bytes(std::size_t step) const noexcept;

  /// Bytes of the longest step.
  std::uint64_t max_step_bytes() const noexcept {
    return std::min(chunk_bytes_ * pieces_per_step_, bytes());
  }

  /// Where chunk k begins in the sequence, and how long it is (bytes).
  std::uint64_t begin(std::size_t chunk) const noexcept { return piece(chunk) * chunk_bytes_; }
  std::uint64_t bytes(std::size_t chunk) const noexcept;

 private:
  std::size_t piece(std::size_t chunk) const noexcept {
    return interleaving_ ? interleaving_->piece(chunk) : chunk;
  }

  std::vector<Extent> sequence_;     // without empty extents
  std::vector<std::uint64_t> ends_;  // ends_[i]: bytes of sequence_[0..i]
  std::uint64_t chunk_bytes_;
  std::size_t chunks_ = 0;
  std::size_t max_extents_ = 0;
  std::shared_ptr<const Interleaving> interleaving_;
  std::size_t pieces_per_step_;
};

}  // namespace ooc
