#pragma once

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/file/file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// Where the data of an array lie, if they are in chunks or if nothing is stored of them.
struct ChunkTable {
  struct Codec {
    std::string name;
    std::size_t element_bytes = 1;  // of a shuffle
  };
  struct Place {
    std::uint64_t offset;          // in the file
    std::uint32_t bytes;           // 0: the chunk is not stored
    std::uint32_t skipped_codecs;  // bit i: it is not encoded by codec i
  };

  std::vector<std::uint64_t> chunk{};  // the shape of a chunk
  std::vector<Codec> codecs{};         // of chunks, in the order of encoding
  std::vector<std::byte> fill{};       // an element as it is stored
  std::vector<Place> places{};         // of all chunks in row-major order; empty: nothing is stored
};

/// Parses what a helper program prints about a file: `ooc.extents/1`, a line of JSON and the places
/// of chunks behind it (docs/formats.md). All places must be in the file of `file_bytes`, and none
/// may overlap. `file`: for messages. Throws Error(bad_input).
std::vector<StoredArray> parse_extent_table(std::string_view table,
                                            const std::filesystem::path& file,
                                            std::uint64_t file_bytes);

/// Returns a file over an array: `file` itself if it has the array in one piece. Throws Error:
/// `bad_input` if a chunk has another size than it must have; `usage` if the library of a codec is
/// missing.
File open_extents(File file, const StoredArray& array);

}  // namespace ooc::detail
