// For libhdf5 before 1.14, which finds each chunk by a walk over those before it.

#include <array>

#include "handle.hpp"
#include "stored_chunks.hpp"

namespace ooc_describe {

const bool finds_chunks_one_by_one = true;

void visit_chunks(hid_t dataset, hid_t space, hsize_t count,
                  const std::function<void(const StoredChunk&)>& visit) {
  std::array<hsize_t, H5S_MAX_RANK> place{};
  for (hsize_t i = 0; i < count; ++i) {
    StoredChunk chunk{.place = place.data(), .skipped_filters = 0, .offset = 0, .bytes = 0};
    checked(H5Dget_chunk_info(dataset, space, i, place.data(), &chunk.skipped_filters,
                              &chunk.offset, &chunk.bytes),
            "H5Dget_chunk_info");
    visit(chunk);
  }
}

}  // namespace ooc_describe
