#include "checksum/xxh3.hpp"

namespace ooc::detail::xxh3 {

void update_sse2(XXH3_state_t& state, const void* data, std::size_t bytes) {
  XXH3_128bits_update(&state, data, bytes);
}

Update& best_update() {
  if (__builtin_cpu_supports("avx512f")) return update_avx512;
  if (__builtin_cpu_supports("avx2")) return update_avx2;
  return update_sse2;
}

}  // namespace ooc::detail::xxh3
