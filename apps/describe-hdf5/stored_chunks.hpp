#pragma once

#include <hdf5.h>

#include <functional>

namespace ooc_describe {

/// A stored chunk, as libhdf5 describes it.
struct StoredChunk {
  const hsize_t* place;  // its first element
  unsigned skipped_filters;
  haddr_t offset;
  hsize_t bytes;
};

/// True if the time to visit chunks grows with the square of their number.
extern const bool finds_chunks_one_by_one;

/// Calls `visit` for each of the `count` stored chunks of a dataset, in any order. Throws
/// std::runtime_error if libhdf5 cannot find them.
void visit_chunks(hid_t dataset, hid_t space, hsize_t count,
                  const std::function<void(const StoredChunk&)>& visit);

}  // namespace ooc_describe
