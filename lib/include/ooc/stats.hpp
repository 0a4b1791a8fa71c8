#pragma once

#include <ooc/io/language.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ooc {

/// Where a stage's time went, summed over those who work at it (seconds).
struct StageTimes {
  double busy = 0;
  double waits_in = 0;   // for the stage before it
  double waits_out = 0;  // for room in the stage after it
};

/// What a pass did, and why it did it that way.
struct Stats {
  std::uint64_t bytes = 0;  // of the source, all of them unless `partial`
  bool partial = false;     // stopped before the end
  bool in_order = true;     // read from beginning to end: a partial result covers the first `bytes`
  double seconds = 0;
  double startup_seconds = 0;  // of `seconds`: until the first chunk was through
  double device_seconds = 0;   // of these: that the GPU took to start
  std::size_t passes = 1;      // over the source; `bytes` counts it once
  std::string device;
  std::string engine;  // "uring" or "threads"
  bool direct = false;
  bool lanes_read = false;  // each stream its own chunks: its time is divided between both
  /// XXH3-128 of the source's bytes, without headers, in their order and as they lie in the files:
  /// 32 hexadecimal digits, as `xxh128sum` prints them. If PassOptions::checksum asked for it and
  /// the pass came to its end.
  std::optional<std::string> checksum;
  double checksum_seconds = 0;       // that the hash took: only one stream at a time has it
  std::vector<std::string> reasons;  // a sentence for each choice that was not the user's
  std::vector<std::string> remarks;  // a sentence for each thing that did not go as planned
  /// Why chunks have their size, and why there are so many streams, also if the user has said so:
  /// a sentence, which names such a setting "Options::streams".
  std::string why_chunk, why_streams;
  std::optional<double> page_cache_fraction;
  double hole_fraction = 0;  // of the source, that was never written and comes from no disk
  std::size_t chunk_bytes = 0, chunks = 0, streams = 0, threads = 0;
  std::size_t slots = 0;  // of the pool, not all of which need be in use
  std::size_t block_bytes = 0, queue_depth = 0;
  std::size_t pool_bytes = 0;
  /// Of the source, for which there was room while a GPU started.
  std::uint64_t read_ahead_bytes = 0;
  std::size_t device_bytes = 0;  // the most that was allocated on a GPU at one time
  StageTimes disk, h2d, kernel, d2h, write;
  std::uint64_t bytes_written = 0;  // payload
  double commit_seconds = 0;        // of `seconds`: until the output was safe and in its place
};

}  // namespace ooc
