#pragma once

// Compiles all of xxhash.h inline, with the vector instructions that the including file is compiled
// for.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 made other hashes before xxHash 0.8");

namespace ooc::detail::xxh3 {

/// The type of XXH3_128bits_update(). All implementations share one format of the state.
using Update = void(XXH3_state_t& state, const void* data, std::size_t bytes);

Update update_sse2, update_avx2, update_avx512;  // each needs a processor with these instructions

/// Returns the fastest implementation for this processor.
Update& best_update();

}  // namespace ooc::detail::xxh3
