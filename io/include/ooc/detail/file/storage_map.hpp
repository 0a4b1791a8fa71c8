#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/file/extent.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc::detail {

/// Where the bytes of a sequence are stored: one extent of a file after another. A copy, and a
/// section, share the list of the extents, which takes 24 bytes for each.
class OOC_API StorageMap {
 public:
  /// A sequence without bytes.
  StorageMap() = default;

  /// The concatenation of `extents`, of which only the places are used. Leaves empty ones out, and
  /// joins those that follow one another in a file. Throws Error(bad_input) for 2^64 bytes or more.
  StorageMap(const std::vector<Extent>& extents);

  /// Size of all extents, and their number. None are left in a map that was moved from.
  std::uint64_t bytes() const noexcept { return pieces_ ? bytes_ : 0; }
  std::size_t size() const noexcept { return pieces_ ? size_ : 0; }
  bool empty() const noexcept { return size() == 0; }

  Extent operator[](std::size_t index) const noexcept;

  /// Returns the first extent; one without bytes if there is none.
  Extent front() const noexcept { return empty() ? Extent{0, 0, 0} : (*this)[0]; }

  /// Returns the number of bytes up to the end of an extent.
  std::uint64_t end_of(std::size_t index) const noexcept;

  /// Returns the index of the extent that has a byte.
  std::size_t index_of(std::uint64_t byte) const noexcept;

  /// Returns the map of consecutive bytes. There must be as many.
  StorageMap section(std::uint64_t first, std::uint64_t bytes) const noexcept;

  class Iterator {
   public:
    Iterator(const StorageMap& map, std::size_t index) noexcept : map_(&map), index_(index) {}
    Extent operator*() const noexcept { return (*map_)[index_]; }
    Iterator& operator++() noexcept { return ++index_, *this; }
    bool operator==(const Iterator& other) const noexcept { return index_ == other.index_; }

   private:
    const StorageMap* map_;
    std::size_t index_;
  };

  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, size()}; }

 private:
  /// An extent that begins where the one before ends in the sequence.
  struct Piece {
    std::uint64_t end;     // in the whole sequence (bytes)
    std::uint64_t offset;  // in the file (bytes)
    std::uint32_t file;
  };

  std::shared_ptr<const std::vector<Piece>> pieces_;  // of the whole sequence
  std::uint64_t first_byte_ = 0, bytes_ = 0;          // of this section in it
  std::size_t first_piece_ = 0, size_ = 0;
};

}  // namespace ooc::detail
