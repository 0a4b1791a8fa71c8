#include <ooc/detail/file/storage_map.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

namespace ooc::detail {

StorageMap::StorageMap(const std::vector<Extent>& extents) {
  std::vector<Piece> pieces;
  pieces.reserve(extents.size());
  std::uint64_t next = 0;  // where the last one ends in its file
  for (const Extent& extent : extents) {
    if (extent.bytes == 0) continue;
    if (__builtin_add_overflow(bytes_, extent.bytes, &bytes_)) {
      throw Error(ErrorKind::bad_input, "a dataset has fewer than 2^64 bytes");
    }
    if (!pieces.empty() && pieces.back().file == extent.file && extent.offset == next) {
      pieces.back().end = bytes_;
    } else {
      pieces.push_back({bytes_, extent.offset, extent.file});
    }
    next = extent.offset + extent.bytes;
  }
  size_ = pieces.size();
  pieces_ = std::make_shared<const std::vector<Piece>>(std::move(pieces));
}

Extent StorageMap::operator[](std::size_t index) const noexcept {
  assert(index < size_);
  const std::size_t place = first_piece_ + index;
  const Piece& piece = (*pieces_)[place];
  const std::uint64_t begin = place == 0 ? 0 : (*pieces_)[place - 1].end;
  const std::uint64_t from = std::max(begin, first_byte_);
  return {piece.file, piece.offset + (from - begin),
          std::min(piece.end, first_byte_ + bytes_) - from};
}

std::uint64_t StorageMap::end_of(std::size_t index) const noexcept {
  assert(index < size_);
  return std::min((*pieces_)[first_piece_ + index].end - first_byte_, bytes_);
}

std::size_t StorageMap::index_of(std::uint64_t byte) const noexcept {
  assert(byte < bytes_);
  const auto pieces = std::span(*pieces_).subspan(first_piece_, size_);
  const auto found = std::ranges::upper_bound(pieces, first_byte_ + byte, {}, &Piece::end);
  return static_cast<std::size_t>(found - pieces.begin());
}

StorageMap StorageMap::section(std::uint64_t first, std::uint64_t bytes) const noexcept {
  assert(first <= bytes_ && bytes <= bytes_ - first);
  StorageMap part;
  if (bytes == 0) return part;
  part.pieces_ = pieces_;
  part.first_byte_ = first_byte_ + first;
  part.bytes_ = bytes;
  part.first_piece_ = first_piece_ + index_of(first);
  part.size_ = first_piece_ + index_of(first + bytes - 1) + 1 - part.first_piece_;
  return part;
}

}  // namespace ooc::detail
