#pragma once

#include <ooc/detail/pool/chunk_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

namespace ooc::detail {

/// Returns the XXH3-64 of bytes.
std::uint64_t xxh3_64(std::span<const std::byte> bytes);

/// The XXH3-128 of data whose chunks are in the hands of several threads, such as the lanes of a
/// pass. A hash takes its bytes in order, so each thread waits until all earlier chunks are in.
class Checksum {
 public:
  Checksum();
  ~Checksum();

  /// Waits for the chunk's turn and adds `bytes` of its segments, from byte `first` on. Chunk
  /// indices count from 0. Throws Aborted.
  void add(const Chunk& chunk, std::uint64_t first = 0,
           std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max());

  /// The turns that threads wait for. A pass aborts them if one of its threads fails.
  Turns& turns() noexcept { return turns_; }

  /// Returns the checksum of all that was added as `xxh128sum` prints it: 32 hexadecimal digits. No
  /// thread may be in add().
  std::string text() const;

  /// Time spent in hashing, one thread at a time.
  double seconds_busy() const noexcept { return seconds_busy_; }

 private:
  struct State;

  Turns turns_{1};  // chunk k after chunk k - 1
  std::unique_ptr<State> state_;
  double seconds_busy_ = 0;
};

}  // namespace ooc::detail
