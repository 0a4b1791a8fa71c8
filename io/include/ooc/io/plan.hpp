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

/// The whole schedule of a pass, known before it starts: which extents chunk k is made of. Chunks
/// are cut from the sequence that the extents form, so one may run across several files. Takes
/// memory for the extents, not for the chunks.
class Plan {
 public:
  /// Cuts the sequence into chunks of `chunk_bytes`; the last may be shorter.
  Plan(std::span<const Extent> sequence, std::uint64_t chunk_bytes);

  /// Chunks, and bytes of all of them.
  std::size_t size() const noexcept { return chunks_; }
  std::uint64_t bytes() const noexcept { return ends_.empty() ? 0 : ends_.back(); }

  /// Where chunk k begins in the sequence, and how long it is (bytes).
  std::uint64_t begin(std::size_t chunk) const noexcept { return chunk * chunk_bytes_; }
  std::uint64_t bytes(std::size_t chunk) const noexcept;

  /// The most extents that any chunk has.
  std::size_t max_extents() const noexcept { return max_extents_; }

  /// The extents of a chunk, written to `storage`, which has room for max_extents().
  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const;

 private:
  std::vector<Extent> sequence_;     // without empty extents
  std::vector<std::uint64_t> ends_;  // ends_[i]: bytes of sequence_[0..i]
  std::uint64_t chunk_bytes_;
  std::size_t chunks_ = 0;
  std::size_t max_extents_ = 0;
};

}  // namespace ooc
