#include "dataset/formats/zarr_chunks.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"
#include "codec/chunk_grid.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {
namespace {

using Lengths = std::vector<std::uint64_t>;

/// Returns how many files an array has along each dimension, or chunks a file.
Lengths counts_of(const Lengths& shape, const Lengths& chunk) {
  Lengths counts;
  for (std::size_t i = 0; i < shape.size(); ++i) counts.push_back(divide_up(shape[i], chunk[i]));
  return counts;
}

/// The file of a chunk or shard, and its indices in the grid.
struct FoundFile {
  Lengths indices;
  File file;
};

/// Walks over the directory of an array.
class Walk {
 public:
  explicit Walk(const ZarrArray& array)
      : array_(array), counts_(counts_of(array.shape, array.file_chunk)) {}

  /// Returns the files in the order of their indices.
  std::vector<FoundFile> files_in(const std::filesystem::path& directory) {
    visit(directory, "", 0);
    std::ranges::sort(found_, {}, &FoundFile::indices);
    return std::move(found_);
  }

 private:
  /// `before`: the names of directories between that of the array and this one.
  void visit(const std::filesystem::path& directory, const std::string& before,
             std::size_t levels) {
    std::error_code failed;
    std::filesystem::directory_iterator entries(directory, failed);
    for (; !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
      const std::string name = entries->path().filename().string();
      if (auto indices = indices_of(before + name)) {
        add(entries->path(), std::move(*indices));
      } else if (leads_to_chunks(name) && levels < counts_.size()) {
        if (entries->is_symlink()) throw is_link(entries->path());
        if (entries->is_directory()) {
          visit(entries->path(), before + name + "/", levels + 1);
        } else if (is_directory_of_chunks(before + name, levels)) {
          throw not_understood(entries->path(), "is no directory of chunks");
        }
      }
    }
    if (failed) throw Error::from_errno(ErrorKind::input, "read", failed.value(), directory);
  }

  bool leads_to_chunks(std::string_view name) const {
    if (array_.separator != '/') return false;
    return name == "c" || name.find_first_not_of("0123456789") == std::string_view::npos;
  }

  /// True if the names of chunks begin with this, and more follows. `levels`: before the last one.
  bool is_directory_of_chunks(std::string name, std::size_t levels) const {
    const std::size_t all = counts_.size() + (array_.has_prefix ? 1 : 0);
    for (std::size_t level = levels + 1; level < all; ++level) name += "/0";
    return indices_of(name).has_value();
  }

  /// Returns the indices that the name of a file gives, if there is such a chunk.
  std::optional<Lengths> indices_of(std::string_view name) const {
    if (array_.has_prefix) {
      if (!name.starts_with('c')) return {};
      name.remove_prefix(1);
    } else if (counts_.empty()) {
      return name == "0" ? std::optional(Lengths{}) : std::nullopt;
    }
    Lengths indices;
    for (const std::uint64_t count : counts_) {
      const bool begins = indices.empty() && !array_.has_prefix;
      if (!begins && !name.starts_with(array_.separator)) return {};
      if (!begins) name.remove_prefix(1);
      std::uint64_t index = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
      const auto digits = static_cast<std::size_t>(end - name.data());
      const bool has_zeros = digits > 1 && name.front() == '0';
      if (error != std::errc{} || has_zeros || index >= count) return {};
      name.remove_prefix(digits);
      indices.push_back(index);
    }
    return name.empty() ? std::optional(std::move(indices)) : std::nullopt;
  }

  static Error is_link(const std::filesystem::path& path) {
    return {ErrorKind::bad_input,
            path.string() + ": is a symbolic link",
            {.path = path,
             .why = "the chunks of an array are in its directory",
             .hint = "copy the array with its files: cp -rL"}};
  }

  void add(const std::filesystem::path& path, Lengths indices) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
      throw Error::from_errno(ErrorKind::input, "stat", errno, path);
    }
    if (S_ISLNK(status.st_mode)) throw is_link(path);
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
      throw not_understood(path, "is no file with a chunk");
    }
    found_.push_back({std::move(indices), File::unopened(path, status)});
  }

  const ZarrArray& array_;
  const Lengths counts_;
  std::vector<FoundFile> found_{};
};

/// Reads the index of a shard and sets the places of its chunks.
class ShardReader {
 public:
  ShardReader(const ZarrArray& array, const ChunkGrid& order)
      : order_(order), in_file_(counts_of(array.file_chunk, array.chunk)) {
    for (const std::uint64_t count : in_file_) chunks_ *= count;
    place_ = *array.shard_index;
  }

  void set_pieces(const FoundFile& shard, std::uint32_t file,
                  std::vector<EncodedArray::Piece>& pieces) const {
    const std::vector<std::byte> index = index_of(shard.file);
    for (std::uint64_t i = 0; i < chunks_; ++i) {
      constexpr std::size_t number_bytes = 8, entry_bytes = 16;
      const std::uint64_t offset = number_in(index, i * entry_bytes, number_bytes);
      const std::uint64_t bytes = number_in(index, i * entry_bytes + number_bytes, number_bytes);
      constexpr std::uint64_t is_missing = std::numeric_limits<std::uint64_t>::max();
      if (offset == is_missing && bytes == is_missing) continue;
      const std::optional<Lengths> indices = indices_of(shard.indices, i);
      if (!indices) continue;  // beyond the array
      if (bytes == 0) throw not_understood(shard.file.path(), "has a chunk without bytes");
      EncodedArray::Piece& piece = pieces[order_.piece_of(*indices)];
      piece = {.end = piece.end, .offset = offset, .bytes = bytes, .file = file};
    }
  }

 private:
  std::vector<std::byte> index_of(const File& file) const {
    constexpr std::uint64_t checksum_bytes = 4;
    const std::uint64_t index_bytes = chunks_ * 2 * sizeof(std::uint64_t);
    const std::uint64_t stored_bytes = index_bytes + (place_.has_checksum ? checksum_bytes : 0);
    if (file.size() < stored_bytes) {
      throw not_understood(file.path(), "is shorter than the index of its chunks");
    }
    std::vector<std::byte> stored(stored_bytes), index(index_bytes);
    read_exactly(file, place_.is_first ? 0 : file.size() - stored_bytes, stored);
    try {
      decode(place_.has_checksum ? CodecChain{crc32c_codec()} : CodecChain{}, stored, index);
    } catch (const Error& error) {
      throw not_understood(file.path(),
                           std::string("the index of its chunks is damaged: ") + error.what());
    }
    return index;
  }

  /// Returns the indices of the chunk with a number in its shard; nothing if there is none.
  std::optional<Lengths> indices_of(Lengths shard, std::uint64_t number) const {
    for (std::size_t i = shard.size(); i-- > 0;) {
      shard[i] = shard[i] * in_file_[i] + number % in_file_[i];
      if (shard[i] >= order_.counts()[i]) return {};
      number /= in_file_[i];
    }
    return shard;
  }

  const ChunkGrid& order_;
  const Lengths in_file_;  // chunks of a shard along each dimension
  std::uint64_t chunks_ = 1;
  ZarrArray::ShardIndex place_{};
};

CodecChain chain_of(const ZarrArray& array) {
  CodecChain chain;
  for (std::size_t i = array.codecs.size(); i-- > 0;) {
    using Kind = ZarrCodec::Kind;
    switch (array.codecs[i].kind) {
      case Kind::zstd: chain.push_back(zstd_codec()); break;
      case Kind::gzip: chain.push_back(gzip_codec()); break;
      case Kind::zlib: chain.push_back(zlib_codec()); break;
      case Kind::lz4: chain.push_back(sized_lz4_codec()); break;
      case Kind::blosc: chain.push_back(blosc_codec()); break;
      case Kind::crc32c: chain.push_back(crc32c_codec()); break;
      case Kind::shuffle: chain.push_back(shuffle_codec(array.codecs[i].element_bytes)); break;
    }
  }
  return chain;
}

}  // namespace

std::shared_ptr<const EncodedArray> find_zarr_chunks(const ZarrArray& array,
                                                     const std::filesystem::path& directory,
                                                     std::string name) {
  const ChunkGrid order(array.shape, array.chunk, size_of(array.type));
  std::vector<EncodedArray::Piece> pieces = order.pieces();
  std::vector<File> files;
  if (!pieces.empty()) {
    std::optional<ShardReader> shards;
    if (array.shard_index) shards.emplace(array, order);
    for (FoundFile& found : Walk(array).files_in(directory)) {
      const auto number = static_cast<std::uint32_t>(files.size());
      if (shards) {
        shards->set_pieces(found, number, pieces);
      } else {
        EncodedArray::Piece& piece = pieces[order.piece_of(found.indices)];
        piece = {.end = piece.end, .offset = 0, .bytes = found.file.size(), .file = number};
      }
      files.push_back(std::move(found.file));
    }
  }
  return std::make_shared<const EncodedArray>(std::move(files), std::move(pieces),
                                              order.encoding(chain_of(array), array.fill),
                                              std::move(name));
}

}  // namespace ooc::detail
