#pragma once

#include <hdf5.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "chunks.hpp"

namespace ooc_describe {

/// Describes a dataset as an array of ooc.extents/1, without its name. Appends the places of its
/// chunks to `entries`. Throws std::runtime_error if libhdf5 cannot read what it needs.
nlohmann::json describe_dataset(hid_t dataset, ChunkLister& lister,
                                std::vector<std::uint64_t>& entries);

}  // namespace ooc_describe
