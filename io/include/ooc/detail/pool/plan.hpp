#pragma once

#include <ooc/io/extent.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ooc {

/// The schedule of a pass: the extents of each chunk, in the order in which chunks are read or
/// written. It is known before the pass starts. Extents are computed on demand, so that a plan
/// takes no memory for each chunk, except for the order of chunks that are not in the order of the
/// sequence.
class Plan {
 public:
  virtual ~Plan() = default;

  /// Number of chunks.
  virtual std::size_t size() const noexcept = 0;

  /// The largest number of extents of a chunk.
  virtual std::size_t max_extents() const noexcept = 0;

  /// Writes the extents of a chunk to `storage`, which has room for max_extents(), and returns
  /// them.
  virtual std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const = 0;
};

/// An order for the pieces of a sequence of which some are in the page cache and some on the disk.
/// Both kinds alternate in proportion to their numbers, so that the disk and the page cache are
/// busy from beginning to end.
class Interleaving {
 public:
  /// Returns the fraction of uncached pieces within the interleaved part of the order, given their
  /// fraction of all pieces. It is between 1/8 and 7/8: with a smaller fraction, the disk would be
  /// busy only if many chunks were in flight, which takes a large pool.
  static double disk_share(double of_the_whole) noexcept;

  /// `cached[i]`: true if piece i is in the page cache.
  explicit Interleaving(std::vector<bool> cached);

  std::size_t pieces() const noexcept { return order_.size(); }
  std::size_t piece(std::size_t chunk) const noexcept { return order_[chunk]; }
  bool is_cached(std::size_t piece) const noexcept { return cached_[piece]; }

 private:
  std::vector<bool> cached_;
  std::vector<std::uint32_t> order_;
};

/// A plan that cuts one sequence of extents into chunks of equal size. A chunk may extend over
/// several files.
class SequentialPlan final : public Plan {
 public:
  /// Cuts the sequence into chunks of `chunk_bytes`; the last may be shorter. `interleaving`: the
  /// order of the chunks, if it is not that of the sequence. `pieces_per_step`: chunks of one step
  /// of a pass; more than one only without `interleaving`.
  SequentialPlan(std::span<const Extent> sequence, std::uint64_t chunk_bytes,
                 std::shared_ptr<const Interleaving> interleaving = nullptr,
                 std::size_t pieces_per_step = 1);

  std::size_t size() const noexcept override { return chunks_; }
  std::size_t max_extents() const noexcept override { return max_extents_; }
  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const override;

  /// Size of all chunks but the last (bytes).
  std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }

  /// Size of the sequence (bytes).
  std::uint64_t bytes() const noexcept { return ends_.empty() ? 0 : ends_.back(); }

  /// Size of the longest chunk (bytes).
  std::uint64_t max_bytes() const noexcept { return std::min(chunk_bytes_, bytes()); }

  /// Number of steps of a pass. Step k consists of the chunks from first_piece(k) up to, but not
  /// including, first_piece(k + 1). It begins `step_begin(k)` bytes into the sequence.
  std::size_t steps() const noexcept;
  std::size_t pieces_per_step() const noexcept { return pieces_per_step_; }
  std::size_t first_piece(std::size_t step) const noexcept {
    return std::min(step * pieces_per_step_, chunks_);
  }
  std::uint64_t step_begin(std::size_t step) const noexcept {
    return begin(step * pieces_per_step_);
  }
  std::uint64_t step_bytes(std::size_t step) const noexcept;

  /// Size of the longest step (bytes).
  std::uint64_t max_step_bytes() const noexcept {
    return std::min(chunk_bytes_ * pieces_per_step_, bytes());
  }

  /// Position of a chunk in the sequence, and its size (bytes).
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
