#pragma once

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace ooc::detail {

/// Reads pieces of a file in whole pages, as direct I/O requires: past the page cache, if possible.
class PageReader {
 public:
  static constexpr std::size_t piece_bytes = 64 * KiB;  ///< most of one read

  /// Reads from `offset`, a multiple of a page: up to `most_bytes`, fewer at the end of the file.
  /// The result is valid until the next read. Throws Error(input).
  std::span<const std::byte> read(const File& file, std::uint64_t offset,
                                  std::size_t most_bytes = piece_bytes);

  /// Reads from one descriptor. Returns nothing and leaves errno if that fails.
  std::optional<std::span<const std::byte>> try_read(int descriptor, std::uint64_t offset,
                                                     std::size_t most_bytes = piece_bytes);

 private:
  struct Buffer {
    alignas(page_bytes) std::array<std::byte, piece_bytes> bytes;
  };

  std::unique_ptr<Buffer> buffer_ = std::make_unique<Buffer>();
};

}  // namespace ooc::detail
