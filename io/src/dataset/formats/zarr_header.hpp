#pragma once

#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// How bytes of a chunk are encoded.
struct ZarrCodec {
  enum class Kind { zstd, gzip, zlib, lz4, blosc, crc32c, shuffle };
  Kind kind;
  std::size_t element_bytes = 1;  // of a shuffle
};

/// An array as its header describes it: a zarr.json (version 3), or a .zarray (version 2).
struct ZarrArray {
  std::string version = "3";
  std::vector<std::uint64_t> shape{};
  DType type{};
  std::string why_not{};               // what it holds, if that cannot be read; most is empty then
  std::vector<std::uint64_t> chunk{};  // the shape of what is decoded at once
  std::vector<ZarrCodec> codecs{};     // of chunks, in the order of encoding
  std::vector<std::byte> fill{};       // an element as it is stored

  /// The shape of what is in one file: that of a chunk or, if files are shards, of several.
  std::vector<std::uint64_t> file_chunk{};
  struct ShardIndex {
    bool is_first = false;  // in front of the chunks, not behind them
    bool has_checksum = false;
  };
  std::optional<ShardIndex> shard_index{};

  char separator = '/';    // between the numbers in the names of files
  bool has_prefix = true;  // "c" and a separator stand before them
};

/// Parses a zarr.json. Returns nothing if it describes a group. Throws Error(bad_input).
std::optional<ZarrArray> parse_zarr_header(std::string_view text,
                                           const std::filesystem::path& file);

/// Parses a .zarray; or a .zgroup, and returns nothing. Throws Error(bad_input).
std::optional<ZarrArray> parse_zarr2_header(std::string_view text,
                                            const std::filesystem::path& file);

}  // namespace ooc::detail
