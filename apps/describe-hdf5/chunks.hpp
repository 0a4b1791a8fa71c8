#pragma once

#include <hdf5.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ooc_describe {

/// The places of the chunks of a dataset, as pairs in row-major order: the offset, and the size
/// (bytes) with the skipped codecs in its upper half. Both have all bits set for a chunk that is
/// not stored.
struct ChunkPlaces {
  std::vector<std::uint64_t> pairs{};
  std::string why_not{};  // what the chunks are, if they cannot be read
};

/// Lists the chunks of datasets of one file.
class ChunkLister {
 public:
  explicit ChunkLister(hid_t file);

  /// Returns the places of the chunks of a dataset, given its shape and that of a chunk, and which
  /// codec each filter is.
  ChunkPlaces places(hid_t dataset, const std::vector<hsize_t>& shape,
                     const std::vector<hsize_t>& chunk, const std::vector<int>& codec_of_filter);

 private:
  std::uint64_t base_ = 0;     // what is to be added to offsets of chunks
  double comparisons_ = 0;     // that libhdf5 has made to find chunks one by one
  std::uint64_t entries_ = 0;  // of all datasets
};

/// How the chunks of a dataset are encoded.
struct ChunkCodecs {
  nlohmann::json names = nlohmann::json::array();  // those of ooc.extents/1, in order of encoding
  std::vector<int> of_filter{};                    // the codec of each filter; -1: it does nothing
  std::string why_not{};                           // what chunks are, if they cannot be decoded
};

/// Returns the codecs of chunks. `properties`: those with which the dataset was made.
ChunkCodecs codecs_of(hid_t properties, std::size_t element_bytes);

}  // namespace ooc_describe
