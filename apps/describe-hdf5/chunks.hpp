#pragma once

#include <hdf5.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ooc_describe {

/// The places of the chunks of a dataset, as pairs of offset and size (bytes) in row-major order.
/// Both have all bits set for a chunk that is not stored.
struct ChunkPlaces {
  std::vector<std::uint64_t> pairs{};
  std::string why_not{};  // what the chunks are, if they cannot be read
};

/// Lists the chunks of datasets of one file.
class ChunkLister {
 public:
  explicit ChunkLister(hid_t file);

  /// Returns the places of the chunks of a dataset, given its shape and that of a chunk.
  ChunkPlaces places(hid_t dataset, const std::vector<hsize_t>& shape,
                     const std::vector<hsize_t>& chunk);

 private:
  std::uint64_t base_ = 0;     // what is to be added to offsets of chunks
  double comparisons_ = 0;     // that libhdf5 has made to find chunks one by one
  std::uint64_t entries_ = 0;  // of all datasets
};

/// Returns the codecs of chunks in the order of encoding, by the names of ooc.extents/1. `why_not`
/// is set if there is no such name. `properties`: those with which the dataset was made.
nlohmann::json codecs_of(hid_t properties, std::size_t element_bytes, std::string& why_not);

}  // namespace ooc_describe
