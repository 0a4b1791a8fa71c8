#pragma once

#include <ooc/detail/codec/encoded_array.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include "dataset/formats/zarr_header.hpp"

namespace ooc::detail {

/// Finds the chunks of an array, which can be read, in its directory, by one walk. `name`: for
/// messages. Throws Error: `input` if a directory cannot be read; `bad_input` for chunks that are
/// links, and for shards whose index is damaged; `usage` if the library of a codec is missing.
std::shared_ptr<const EncodedArray> find_zarr_chunks(const ZarrArray& array,
                                                     const std::filesystem::path& directory,
                                                     std::string name);

}  // namespace ooc::detail
