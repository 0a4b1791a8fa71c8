#pragma once

#include <ooc/io/engine.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace ooc {

/// Limits and choices of a coordinator: how much of the machine it uses, and how. Zero means that
/// the library chooses, by the device and the source. Options of a single pass are PassOptions.
struct Options {
  std::size_t chunk_bytes = 0;   // rounded up to whole tiles
  std::size_t streams = 0;       // each takes the next step when it is free
  std::size_t threads = 0;       // all CPU workers, reading and computing together
  std::size_t block_bytes = 0;   // of one read
  std::size_t queue_depth = 0;   // reads in flight
  std::size_t memory_bytes = 0;  // limit for the pool
  std::size_t device_bytes = 0;  // limit for what is allocated on a GPU
  EngineKind engine = EngineKind::automatic;
  DirectIo direct = DirectIo::automatic;

  /// Replaces make_engine: to measure without a disk, or to test with a broken one.
  std::function<std::unique_ptr<Engine>(const EngineOptions&)> make_engine{};
};

}  // namespace ooc
