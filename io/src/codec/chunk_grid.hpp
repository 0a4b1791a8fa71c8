#pragma once

#include <ooc/detail/codec/encoded_array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ooc::detail {

/// How an array is divided into chunks of one shape, and how these follow one another in row-major
/// order. The last chunks of a dimension may reach beyond the array.
class ChunkGrid {
 public:
  /// `chunk` has as many lengths as `shape`, and none of them is 0. why_not() must have no reason.
  ChunkGrid(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk,
            std::uint64_t element_bytes);

  static constexpr std::uint64_t most_chunks = std::uint64_t{1} << 24;  ///< 32 bytes for each

  /// Says what chunks of an array are if they cannot be read; empty if they can. The array has less
  /// than 2^64 bytes.
  static std::string why_not(std::span<const std::uint64_t> shape,
                             std::span<const std::uint64_t> chunk, std::uint64_t element_bytes);

  /// Returns how many chunks the array has along each dimension.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }

  /// Returns the number of a chunk, given its number along each dimension.
  std::size_t piece_of(std::span<const std::uint64_t> indices) const noexcept;

  /// Returns the pieces of an array of which no chunk is stored.
  std::vector<EncodedArray::Piece> pieces() const;

  /// Returns how these pieces are stored: whole, encoded by `chain`.
  EncodedArray::Encoding encoding(CodecChain chain, std::vector<std::byte> fill) const;

 private:
  std::vector<std::uint64_t> counts_;
  std::vector<TileGrid::Side> row_{};  // of a band
  std::uint64_t chunk_bytes_;
  std::uint64_t row_bytes_;            // of one index of the dimension that bands divide
  std::uint64_t rows_, rows_of_band_;  // of that dimension
};

}  // namespace ooc::detail
