#include "checksum.hpp"

#include <iomanip>
#include <memory_resource>
#include <sstream>

#include "ranges.hpp"
#include "stopwatch.hpp"

namespace ooc {

Checksum::Checksum() : turns_(*std::pmr::new_delete_resource(), 1, 1, 0) {
  XXH3_128bits_reset(&state_);
}

void Checksum::add(const Chunk& chunk) {
  const Chunk* const turn = turns_.wait(chunk.index, Stage::empty);
  {
    const Range range("checksum", chunk.index);
    const Timed timed(seconds_busy_);
    for (const std::span<std::byte> segment : chunk.segments) {
      update_(state_, segment.data(), segment.size());
    }
  }
  turns_.recycle(*turn);
}

std::string Checksum::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << hash.high64 << std::setw(16)
       << hash.low64;
  return text.str();
}

}  // namespace ooc
