#pragma once

// All of xxhash.h as inline functions, with the vector instructions that the file which includes
// this is compiled for.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 made other hashes before xxHash 0.8");

namespace ooc::xxh3 {

/// XXH3_128bits_update(). The state is the same for all of them.
using Update = void(XXH3_state_t& state, const void* data, std::size_t bytes);

Update update_sse2, update_avx2, update_avx512;  // for processors that have these instructions

/// The fastest for this processor.
Update& best_update();

}  // namespace ooc::xxh3
