#include "checksum/xxh3.hpp"

namespace ooc::detail::xxh3 {

void update_avx2(XXH3_state_t& state, const void* data, std::size_t bytes) {
  XXH3_128bits_update(&state, data, bytes);
}

}  // namespace ooc::detail::xxh3
