#pragma once

#include <ooc/detail/engine/engine.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace ooc {

class Ranks;

/// Limits and settings of a coordinator. Zero means that the library chooses a value for the device
/// and the source. Options of a single pass are PassOptions.
///
///     ooc::Coordinator coordinator(ooc::best_device(), {.chunk_bytes = 8 << 20, .streams = 2});
struct Options {
  std::size_t chunk_bytes = 0;                ///< size of a chunk; rounded up to whole partitions
  std::size_t streams = 0;                    ///< lanes; each takes the next step when it is free
  std::size_t threads = 0;                    ///< all threads that read or compute
  std::size_t block_bytes = 0;                ///< size of one read request
  std::size_t queue_depth = 0;                ///< maximum number of reads in flight
  std::size_t memory_bytes = 0;               ///< limit for host buffers
  std::size_t device_bytes = 0;               ///< limit for allocations on a GPU
  EngineKind engine = EngineKind::automatic;  ///< how local files are read and written
  DirectIo direct = DirectIo::automatic;      ///< whether reads bypass the page cache

  /// The processes that share folds, maps and products, or null. They must outlive the
  /// coordinator.
  Ranks* ranks = nullptr;

  /// Replaces make_engine(), for measurements without a disk and for fault injection in tests.
  std::function<std::unique_ptr<Engine>(const EngineOptions&)> make_engine{};
};

}  // namespace ooc
