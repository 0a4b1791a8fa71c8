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
  std::uint64_t base;
  ChunkPlaces found{};

  void add(const StoredChunk& stored) {
    if (stored.skipped_filters != 0) found.why_not = "chunks that are not all encoded alike";
    std::uint64_t index = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (stored.place[i] >= shape[i]) return;  // it is left from a larger shape
      if (stored.place[i] % chunk[i] != 0) throw std::runtime_error("a chunk is not in the grid");
      index = index * ((shape[i] - 1) / chunk[i] + 1) + stored.place[i] / chunk[i];
    }
    found.pairs[2 * index] = base + stored.offset;
    found.pairs[2 * index + 1] = stored.bytes;
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

}  // namespace

ChunkLister::ChunkLister(hid_t file) {
  const hsize_t user_block = user_block_of(file);
  if (user_block != 0 && counts_from_user_block()) base_ = user_block;
}

ChunkPlaces ChunkLister::places(hid_t dataset, const std::vector<hsize_t>& shape,
                                const std::vector<hsize_t>& chunk) {
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
  Places all{.shape = shape, .chunk = chunk, .base = base_};
  all.found.pairs.assign(2 * count, not_stored);
  if (stored != 0) visit_chunks(dataset, space, stored, [&](const auto& each) { all.add(each); });
  return std::move(all.found);
}

nlohmann::json codecs_of(hid_t properties, std::size_t element_bytes, std::string& why_not) {
  nlohmann::json codecs = nlohmann::json::array();
  const int count = checked(H5Pget_nfilters(properties), "H5Pget_nfilters");
  for (int i = 0; i < count; ++i) {
    std::array<unsigned, 16> options{};
    std::array<char, 64> name{};
    std::size_t given = options.size();
    unsigned flags = 0, config = 0;
    const H5Z_filter_t filter =
        checked(H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &given, options.data(),
                               name.size(), name.data(), &config),
                "H5Pget_filter2");
    constexpr H5Z_filter_t blosc = 32001, lz4 = 32004, bitshuffle = 32008, zstd = 32015;
    constexpr std::size_t blosc_kind = 6, shuffled_bytes = 2, bitshuffle_kind = 4;
    std::string refused;
    switch (filter) {
      case H5Z_FILTER_DEFLATE: codecs.push_back({"deflate"}); break;
      case H5Z_FILTER_SHUFFLE: {
        const std::size_t bytes = given > 0 ? options[0] : element_bytes;
        if (bytes > 1) codecs.push_back({"shuffle", bytes});
        break;
      }
      case H5Z_FILTER_FLETCHER32: codecs.push_back({"fletcher32"}); break;
      case lz4: codecs.push_back({"lz4"}); break;
      case zstd: codecs.push_back({"zstd"}); break;
      case blosc: {
        const unsigned kind = given > blosc_kind ? options[blosc_kind] : 0;
        if (kind == 0 || kind == 3) refused = "blosc with blosclz or snappy";
        codecs.push_back({"blosc"});
        break;
      }
      case bitshuffle:
        if (given <= bitshuffle_kind || options[bitshuffle_kind] != 2) {
          refused = "bitshuffle without lz4";
        }
        codecs.push_back({"bitshuffle", options[shuffled_bytes]});
        break;
      default:
        refused = "filter " + std::to_string(filter) + " of HDF5";
        if (name[0] != '\0') refused += std::string(" (") + name.data() + ")";
    }
    if (!refused.empty()) why_not = "chunks encoded by " + refused;
  }
  return codecs;
}

}  // namespace ooc_describe
