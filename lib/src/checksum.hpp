#pragma once

#include <ooc/io/chunk_pool.hpp>

#include <string>

#include "xxh3.hpp"

namespace ooc {

/// XXH3-128 of the bytes of a source, by the lanes that have its chunks in memory. A hash takes its
/// bytes in their order, so each lane waits until all chunks before its own are in.
class Checksum {
 public:
  Checksum();

  /// Adds a chunk, when its turn has come. Throws Aborted.
  void add(const Chunk& chunk);

  /// Where lanes wait for their turns: to be aborted with the pass.
  ChunkPool& turns() noexcept { return turns_; }

  /// Of all that was added, as `xxh128sum` prints it: 32 hexadecimal digits. Not while it is added
  /// to.
  std::string text() const;

  /// Time spent in hashing, one lane at a time.
  double seconds_busy() const noexcept { return seconds_busy_; }

 private:
  ChunkPool turns_;  // of one slot, whose turns alone are used: chunk k's comes after k - 1's
  XXH3_state_t state_;
  xxh3::Update& update_ = xxh3::best_update();
  double seconds_busy_ = 0;
};

}  // namespace ooc
