#pragma once

#include <ooc/detail/pool/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc::detail::product {

/// A row-major matrix in a file.
struct StoredMatrix {
  std::uint32_t file = 0;    // index among the files of the reader
  std::uint64_t offset = 0;  // of the first element (bytes)
  std::uint64_t columns = 0;
  std::size_t element_bytes = 0;

  std::uint64_t row_bytes() const { return columns * element_bytes; }
};

/// A rectangle of a matrix: its first row and column and its size, in elements.
struct Region {
  std::uint64_t row = 0, column = 0, rows = 0, columns = 0;
};

/// A list of regions of matrices, to be read or written in this order. Each region is cut into
/// pieces that fit in a slot: some whole rows, or a part of one row if a row is longer than a
/// slot.
class RegionPlan final : public Plan {
 public:
  struct Entry {
    StoredMatrix matrix;
    Region region;
  };

  /// Slots have `slot_bytes` bytes. In a slot, each extent begins on a new page.
  RegionPlan(std::vector<Entry> entries, std::size_t slot_bytes);

  std::size_t size() const noexcept override { return first_.back(); }
  std::size_t max_extents() const noexcept override { return max_extents_; }
  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const override;

  /// Returns the first chunk of an entry. Its chunks end before first_chunk(entry + 1).
  std::size_t first_chunk(std::size_t entry) const { return first_[entry]; }

  /// Returns the number of entries whose chunks are all before this one.
  std::size_t entries_before(std::size_t chunk) const;

  /// Returns the entry that a chunk belongs to. region() returns the part of it in the chunk.
  const Entry& entry_of(std::size_t chunk) const { return entries_[index_of(chunk)]; }
  Region region(std::size_t chunk) const;

  /// Returns the mean size of an extent.
  std::size_t mean_extent_bytes() const noexcept { return mean_extent_bytes_; }

  /// Returns the smallest usable slot for any matrix: a page of payload and one at each end.
  static constexpr std::size_t least_slot_bytes() { return 3 * std::size_t{4096}; }

 private:
  /// The size of a region's pieces: `rows` whole rows, or `columns` elements of one row.
  struct Cut {
    std::uint64_t rows, columns;
  };

  std::size_t index_of(std::size_t chunk) const;
  Cut cut_of(const Entry& entry) const;

  std::vector<Entry> entries_;
  std::size_t slot_bytes_;
  std::vector<std::size_t> first_;  // first chunk of each entry, then the number of chunks
  std::size_t max_extents_ = 1;
  std::size_t mean_extent_bytes_ = 0;
};

}  // namespace ooc::detail::product
