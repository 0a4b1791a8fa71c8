#include <ooc/detail/checksum/checksum.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "checksum/xxh3.hpp"
#include "device/nvtx_range.hpp"
#include "observe/stopwatch.hpp"

namespace ooc::detail {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct Checksum::State {
  XXH3_state_t hash;
  xxh3::Update& update = xxh3::best_update();
};

Checksum::Checksum() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}

Checksum::~Checksum() = default;

void Checksum::add(const Chunk& chunk, std::uint64_t first, std::uint64_t bytes) {
  turns_.wait(chunk.index, ChunkState::empty);
  {
    const NvtxRange range("checksum", chunk.index);
    const Timed timed(seconds_busy_);
    for (const std::span<std::byte> segment : chunk.segments) {
      const std::uint64_t skipped = std::min<std::uint64_t>(first, segment.size());
      const std::uint64_t taken = std::min(bytes, segment.size() - skipped);
      state_->update(state_->hash, segment.data() + skipped, taken);
      first -= skipped;
      bytes -= taken;
    }
  }
  turns_.finish(chunk.index);
}

std::string Checksum::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << hash.high64 << std::setw(16)
       << hash.low64;
  return text.str();
}

}  // namespace ooc::detail
