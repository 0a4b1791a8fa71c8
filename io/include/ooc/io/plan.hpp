#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc {

/// A contiguous range of bytes in one of a source's files.
struct Extent {
  std::uint32_t file;
  std::uint64_t offset;
  std::uint64_t bytes;

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// The whole schedule of a pass, known before it starts: which extents chunk k is made of, to be
/// read in this order, or written. Extents are computed when they are asked for, so that a plan
/// takes no memory for its chunks.
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

/// One sequence of extents, cut into chunks of equal size, of which one may run across several
/// files.
class SequentialPlan final : public Plan {
 public:
  /// Cuts the sequence into chunks of `chunk_bytes`; the last may be shorter.
  SequentialPlan(std::span<const Extent> sequence, std::uint64_t chunk_bytes);

  std::size_t size() const noexcept override { return chunks_; }
  std::size_t max_extents() const noexcept override { return max_extents_; }
  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const override;

  /// Bytes of all chunks.
  std::uint64_t bytes() const noexcept { return ends_.empty() ? 0 : ends_.back(); }

  /// Where chunk k begins in the sequence, and how long it is (bytes).
  std::uint64_t begin(std::size_t chunk) const noexcept { return chunk * chunk_bytes_; }
  std::uint64_t bytes(std::size_t chunk) const noexcept;

 private:
  std::vector<Extent> sequence_;     // without empty extents
  std::vector<std::uint64_t> ends_;  // ends_[i]: bytes of sequence_[0..i]
  std::uint64_t chunk_bytes_;
  std::size_t chunks_ = 0;
  std::size_t max_extents_ = 0;
};

}  // namespace ooc
