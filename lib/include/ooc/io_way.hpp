#pragma once

#include <ooc/coordinator.hpp>

#include <cstddef>
#include <string>

namespace ooc {

/// How many work at once.
struct Workers {
  std::size_t lanes;    // streams
  std::size_t readers;  // threads of the threads engine
  std::size_t writers;  // of another one, if a pass writes through the page cache
};

Workers choose_workers(const Options& options, DeviceKind device);

/// In which way bytes go between files and memory: what the user has fixed, and the rest as fits
/// the device and the place where the bytes lie.
struct IoWay {
  bool direct = false;  // past the page cache, where the file allows it
  EngineKind engine = EngineKind::automatic;
  std::size_t chunk_bytes = 0;
  std::size_t block_bytes = 0;  // of one request
  std::size_t queue_depth = 0;  // requests in flight
  std::string reason{};         // why not past the page cache, unless that was the user's choice
};

/// `cached`: the part of the source that lies in the page cache, 0 to 1. Throws Error(usage) if
/// direct reads were asked for and are impossible.
IoWay choose_read_way(const Options& options, DeviceKind device, Workers workers,
                      const Source& source, double cached);

IoWay choose_write_way(const Options& options, DeviceKind device, Workers workers,
                       const OutputFile& file);

}  // namespace ooc
