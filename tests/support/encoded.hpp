#pragma once

#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/data_file.hpp"

namespace ooc::detail::test {

/// Each run of equal bytes is stored as their number and the byte.
class RunLengths final : public Codec {
 public:
  std::string_view name() const noexcept override { return "run lengths"; }

  static std::vector<std::byte> encode(std::span<const std::byte> bytes) {
    std::vector<std::byte> encoded;
    for (std::size_t i = 0, end = 0; i < bytes.size(); i = end) {
      while (end < bytes.size() && end - i < 255 && bytes[end] == bytes[i]) ++end;
      encoded.insert(encoded.end(), {std::byte(end - i), bytes[i]});
    }
    return encoded;
  }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    std::size_t made = 0;
    for (std::size_t i = 0; i + 1 < encoded.size(); i += 2) {
      const auto count = std::to_integer<std::size_t>(encoded[i]);
      if (count > decoded.size() - made) break;
      std::ranges::fill(decoded.subspan(made, count), encoded[i + 1]);
      made += count;
      if (i + 2 == encoded.size() && made == decoded.size()) return;
    }
    throw Error(ErrorKind::bad_input, "these run lengths have another sum");
  }
};

/// All bits are inverted, and the bytes are followed by a check byte.
class Inverted final : public Codec {
 public:
  std::string_view name() const noexcept override { return "inverted"; }
  std::optional<std::uint64_t> encoded_bytes(std::uint64_t decoded) const noexcept override {
    return decoded + 1;
  }

  static std::vector<std::byte> encode(std::span<const std::byte> bytes) {
    std::vector<std::byte> encoded;
    for (const std::byte byte : bytes) encoded.push_back(~byte);
    encoded.push_back(std::byte{7});
    return encoded;
  }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (encoded.size() != decoded.size() + 1 || encoded.back() != std::byte{7}) {
      throw Error(ErrorKind::bad_input, "the check byte is missing");
    }
    for (std::size_t i = 0; i < decoded.size(); ++i) decoded[i] = ~encoded[i];
  }
};

/// Writes bytes in encoded pieces, of which `ends` has the ends. They are stored in another order,
/// some with random bytes between, in two files. Pieces of zeros are not stored. With
/// `whole_bytes`, each is stored as so many bytes, of which the last ones are not the array's.
inline std::shared_ptr<const EncodedArray> encode_pieces(const std::filesystem::path& directory,
                                                         std::span<const std::byte> bytes,
                                                         const std::vector<std::uint64_t>& ends,
                                                         std::uint64_t whole_bytes = 0) {
  std::mt19937_64 random(bytes.size());
  std::vector<EncodedArray::Piece> pieces(ends.size());
  std::vector<std::size_t> order(ends.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::shuffle(order, random);
  std::vector<std::vector<std::byte>> stored(2);
  for (const std::size_t i : order) {
    const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
    const auto part = bytes.subspan(begin, ends[i] - begin);
    pieces[i].end = ends[i];
    const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
    if (std::ranges::all_of(part, is_zero)) continue;
    std::vector<std::byte> whole(part.begin(), part.end());
    if (whole_bytes != 0) whole.resize(whole_bytes, std::byte{99});
    const std::vector<std::byte> encoded = RunLengths::encode(Inverted::encode(whole));
    pieces[i].file = static_cast<std::uint32_t>(random() % 2);
    std::vector<std::byte>& file = stored[pieces[i].file];
    file.resize(file.size() + (random() % 2 == 0 ? 0 : random() % 3000), std::byte{1});
    pieces[i].offset = file.size();
    pieces[i].bytes = encoded.size();
    file.insert(file.end(), encoded.begin(), encoded.end());
  }
  std::vector<File> files;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto path = directory / ("encoded-" + std::to_string(i));
    write_file(path, stored[i]);
    files.push_back(File::open(path));
  }
  return std::make_shared<const EncodedArray>(
      std::move(files), std::move(pieces),
      EncodedArray::Encoding{
          .chain = {std::make_shared<RunLengths>(), std::make_shared<Inverted>()},
          .whole_bytes = whole_bytes},
      (directory / "encoded").string());
}

/// How a test cuts an array into tiles.
struct TileSizes {
  std::uint64_t row_bytes, tile_rows, tile_bytes;
};

/// Writes rows in encoded tiles, in a file "tiles". The last tiles are stored whole. Tiles of zeros
/// are not stored.
inline std::shared_ptr<const EncodedArray> encode_tiles(const std::filesystem::path& directory,
                                                        std::span<const std::byte> bytes,
                                                        const TileSizes& sizes) {
  const auto [row_bytes, tile_rows, tile_bytes] = sizes;
  const std::uint64_t rows = bytes.size() / row_bytes;
  std::vector<EncodedArray::Piece> pieces;
  std::vector<std::byte> stored;
  for (std::uint64_t row = 0; row < rows; row += tile_rows) {
    const std::uint64_t rows_end = std::min(row + tile_rows, rows);
    for (std::uint64_t column = 0; column < row_bytes; column += tile_bytes) {
      std::vector<std::byte> tile(tile_rows * tile_bytes);
      for (std::uint64_t i = row; i < rows_end; ++i) {
        const auto part =
            bytes.subspan(i * row_bytes + column, std::min(tile_bytes, row_bytes - column));
        std::ranges::copy(part, tile.begin() + static_cast<std::ptrdiff_t>((i - row) * tile_bytes));
      }
      const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
      const bool is_stored = !std::ranges::all_of(tile, is_zero);
      const std::vector<std::byte> encoded = RunLengths::encode(tile);
      pieces.push_back({rows_end * row_bytes, stored.size(), is_stored ? encoded.size() : 0});
      stored.insert(stored.end(), encoded.begin(), encoded.end());
    }
  }
  const auto path = directory / "tiles";
  write_file(path, stored);
  std::vector<File> files;
  files.push_back(File::open(path));
  return std::make_shared<const EncodedArray>(
      std::move(files), std::move(pieces),
      EncodedArray::Encoding{.chain = {std::make_shared<RunLengths>()},
                             .whole_bytes = tile_rows * tile_bytes,
                             .row = {{row_bytes, tile_bytes}}},
      path.string());
}

/// Returns an array as a source.
inline Source source_of(std::shared_ptr<const EncodedArray> array, DType type) {
  const std::uint64_t bytes = array->size();
  std::vector<File> files;
  files.push_back(File::of_pieces(std::move(array)));
  return SourceAccess::of_files(std::move(files), {{0, 0, bytes}}, std::move(type));
}

/// Writes values in some hundred encoded pieces of random sizes, a few of them longer than many
/// others together, and opens them. Pieces begin and end within values.
template <class T>
Source encoded(const std::filesystem::path& directory, const std::vector<T>& values, DType type) {
  std::mt19937_64 random(values.size());
  const auto bytes = std::as_bytes(std::span(values));
  constexpr std::uint64_t usual_pieces = 200;
  const std::uint64_t most = 2 * bytes.size() / usual_pieces + 9;
  std::vector<std::uint64_t> ends;
  for (std::uint64_t end = 0; end < bytes.size(); ends.push_back(end)) {
    const std::uint64_t length = (1 + random() % most) * (random() % 50 == 0 ? 30 : 1);
    end = std::min<std::uint64_t>(end + length, bytes.size());
  }
  return source_of(encode_pieces(directory, bytes, ends), std::move(type));
}

/// Writes values in encoded tiles, two or three side by side, and opens them. Tiles cut values.
template <class T>
Source tiled(const std::filesystem::path& directory, const std::vector<T>& values, DType type) {
  const auto bytes = std::as_bytes(std::span(values));
  std::uint64_t row_bytes = 3000;
  while (bytes.size() % row_bytes != 0) --row_bytes;
  const TileSizes sizes{
      .row_bytes = row_bytes, .tile_rows = 40'000 / row_bytes, .tile_bytes = row_bytes * 2 / 5 + 1};
  return source_of(encode_tiles(directory, bytes, sizes), std::move(type));
}

}  // namespace ooc::detail::test
