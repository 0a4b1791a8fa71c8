#include "chunks.hpp"

#include <array>
#include <stdexcept>

#include "handle.hpp"
#include "stored_chunks.hpp"

namespace ooc_describe {
namespace {

constexpr std::uint64_t not_stored = ~std::uint64_t{0};

/// Returns the size of the user block, before which no data of HDF5 are.
hsize_t user_block_of(hid_t file) {
  const PropertyHandle properties(H5Fget_create_plist(file), "H5Fget_create_plist");
  hsize_t bytes = 0;
  checked(H5Pget_userblock(properties, &bytes), "H5Pget_userblock");
  return bytes;
}

/// True if offsets of chunks count from the end of the user block, as in some versions of libhdf5,
/// and not from the beginning of the file. Tries it with a file in memory.
bool counts_from_user_block() {
  constexpr hsize_t block = 1 << 20, elements = 1, chunk = 1;
  const PropertyHandle access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  checked(H5Pset_fapl_core(access, block, false), "H5Pset_fapl_core");
  const PropertyHandle creation(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate");
  checked(H5Pset_userblock(creation, block), "H5Pset_userblock");
  const FileHandle file(H5Fcreate("trial", H5F_ACC_TRUNC, creation, access), "H5Fcreate");
  const PropertyHandle layout(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
  checked(H5Pset_chunk(layout, 1, &chunk), "H5Pset_chunk");
  checked(H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
  const SpaceHandle space(H5Screate_simple(1, &elements, nullptr), "H5Screate_simple");
  const DatasetHandle dataset(
      H5Dcreate2(file, "x", H5T_STD_U8LE, space, H5P_DEFAULT, layout, H5P_DEFAULT), "H5Dcreate2");
  hsize_t place = 0, bytes = 0;
  haddr_t offset = 0;
  unsigned skipped = 0;
  checked(H5Dget_chunk_info(dataset, space, 0, &place, &skipped, &offset, &bytes),
          "H5Dget_chunk_info");
  return offset < block;
}

/// Takes stored chunks in any order.
struct Places {
  const std::vector<hsize_t>&shape, &chunk;
  const std::vector<int>& codec_of_filter;
  std::uint64_t base;
  ChunkPlaces found{};

  void add(const StoredChunk& stored) {
    std::uint64_t index = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (stored.place[i] >= shape[i]) return;  // it is left from a larger shape
      if (stored.place[i] % chunk[i] != 0) throw std::runtime_error("a chunk is not in the grid");
      index = index * ((shape[i] - 1) / chunk[i] + 1) + stored.place[i] / chunk[i];
    }
    found.pairs[2 * index] = base + stored.offset;
    found.pairs[2 * index + 1] = stored.bytes | skipped_codecs(stored) << 32;
    if (stored.bytes >> 32 != 0) found.why_not = "chunks of 4 GiB or more";
  }

  std::uint64_t skipped_codecs(const StoredChunk& stored) const {
    std::uint64_t skipped = 0;
    for (std::size_t i = 0; i < codec_of_filter.size(); ++i) {
      const bool is_skipped = codec_of_filter[i] >= 0 && (stored.skipped_filters >> i & 1) != 0;
      if (is_skipped) skipped |= std::uint64_t{1} << codec_of_filter[i];
    }
    return skipped;
  }
};

/// Returns the number of chunks of the grid; more than `most` if there are more.
std::uint64_t grid_count(const std::vector<hsize_t>& shape, const std::vector<hsize_t>& chunk,
                         std::uint64_t most) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    const std::uint64_t along = (shape[i] - 1) / chunk[i] + 1;
    if (along > most / count) count = most + 1;
    if (count <= most) count *= along;
  }
  return count;
}

constexpr H5Z_filter_t lzf = 32000, blosc = 32001, lz4 = 32004, bitshuffle = 32008, zstd = 32015;

struct Filter {
  std::array<char, 64> name{};
  std::array<unsigned, 16> options{};
  std::size_t given = options.size();

  /// Returns the size of the elements that the filter shuffle shuffles (bytes).
  std::size_t shuffled_bytes(std::size_t usual) const { return given > 0 ? options[0] : usual; }
};

/// Adds the codec that a filter is. Returns what it is if there is none.
std::string add_codec(H5Z_filter_t number, const Filter& filter, std::size_t element_bytes,
                      nlohmann::json& names) {
  constexpr std::size_t blosc_kind = 6, bitshuffle_bytes = 2, bitshuffle_kind = 4;
  switch (number) {
    case H5Z_FILTER_DEFLATE: names.push_back({"deflate"}); return {};
    case H5Z_FILTER_SHUFFLE:
      names.push_back({"shuffle", filter.shuffled_bytes(element_bytes)});
      return {};
    case H5Z_FILTER_FLETCHER32: names.push_back({"fletcher32"}); return {};
    case lz4: names.push_back({"lz4"}); return {};
    case zstd: names.push_back({"zstd"}); return {};
    case blosc: {
      const unsigned kind = filter.given > blosc_kind ? filter.options[blosc_kind] : 0;
      if (kind == 0 || kind == 3) return "blosc with blosclz or snappy";
      names.push_back({"blosc"});
      return {};
    }
    case bitshuffle:
      if (filter.given <= bitshuffle_kind || filter.options[bitshuffle_kind] != 2) {
        return "bitshuffle without lz4";
      }
      names.push_back({"bitshuffle", filter.options[bitshuffle_bytes]});
      return {};
    case lzf: return "lzf";
    default: {
      const std::string name(filter.name.data());
      return "filter " + std::to_string(number) + " of HDF5" + (name.empty() ? "" : ": " + name);
    }
  }
}

}  // namespace

ChunkLister::ChunkLister(hid_t file) {
  const hsize_t user_block = user_block_of(file);
  if (user_block != 0 && counts_from_user_block()) base_ = user_block;
}

ChunkPlaces ChunkLister::places(hid_t dataset, const std::vector<hsize_t>& shape,
                                const std::vector<hsize_t>& chunk,
                                const std::vector<int>& codec_of_filter) {
  constexpr std::uint64_t most_entries = 16'000'000;
  const std::uint64_t count = grid_count(shape, chunk, most_entries);
  if (count > most_entries - entries_) return {.why_not = "too many chunks (more than 16,000,000)"};
  const SpaceHandle space(H5Dget_space(dataset), "H5Dget_space");
  hsize_t stored = 0;
  checked(H5Dget_num_chunks(dataset, space, &stored), "H5Dget_num_chunks");
  if (finds_chunks_one_by_one) {
    constexpr double most_chunks = 20'000, most_comparisons = most_chunks * most_chunks;
    comparisons_ += static_cast<double>(stored) * static_cast<double>(stored);
    if (comparisons_ > most_comparisons) {
      return {.why_not =
                  "too many chunks for libhdf5 before 1.14 (about 20,000 are found in time; "
                  "h5repack -l NAME:CHUNK=AxB makes them larger)"};
    }
  }
  entries_ += count;
  Places all{.shape = shape, .chunk = chunk, .codec_of_filter = codec_of_filter, .base = base_};
  all.found.pairs.assign(2 * count, not_stored);
  if (stored != 0) visit_chunks(dataset, space, stored, [&](const auto& each) { all.add(each); });
  return std::move(all.found);
}

ChunkCodecs codecs_of(hid_t properties, std::size_t element_bytes) {
  ChunkCodecs codecs;
  const int count = checked(H5Pget_nfilters(properties), "H5Pget_nfilters");
  for (int i = 0; i < count; ++i) {
    Filter filter;
    unsigned flags = 0, config = 0;
    const H5Z_filter_t number = checked(
        H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &filter.given,
                       filter.options.data(), filter.name.size(), filter.name.data(), &config),
        "H5Pget_filter2");
    const bool is_idle = number == H5Z_FILTER_SHUFFLE && filter.shuffled_bytes(element_bytes) == 1;
    codecs.of_filter.push_back(is_idle ? -1 : static_cast<int>(codecs.names.size()));
    if (is_idle) continue;
    const std::string refused = add_codec(number, filter, element_bytes, codecs.names);
    if (!refused.empty()) codecs.why_not = "chunks encoded by " + refused;
  }
  return codecs;
}

}  // namespace ooc_describe
