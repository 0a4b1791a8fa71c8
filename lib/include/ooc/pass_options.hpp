#pragma once

#include <ooc/trace_event.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

namespace ooc {

/// How far a pass has come.
struct Progress {
  std::uint64_t bytes = 0;
  std::uint64_t total_bytes = 0;
  double seconds = 0;
  std::size_t in_flight = 0;   // reads and writes
  double stalled_seconds = 0;  // for which none of these has come back
};

/// Options of one pass. (Options of a coordinator are about the machine.) A job of several passes,
/// such as a histogram that looks for its range first, gives the same to each.
///
///     std::stop_source stop;
///     ooc::fold(coordinator, op, source, {.stop = stop.get_token()});
struct PassOptions {
  /// Ends the pass early. The coordinator can be used again afterwards.
  std::stop_token stop{};

  /// Called about ten times a second, and once at the end, on the thread that runs the pass. If it
  /// throws, the pass fails with that.
  std::function<void(const Progress&)> progress{};

  /// Called for all that any stage does with any chunk, when it is done, by the thread that did it,
  /// so by several at once; it should be quick. If it throws, the pass fails with that. Empty:
  /// nothing is recorded and no time spent.
  Observe observe{};

  /// Also makes XXH3-128 of the bytes that are read, in their order (not for matmul()).
  bool checksum = false;

  /// A pass that is stopped throws Error(interrupted), unless this is set: then its result covers
  /// `Stats::bytes` of the source, and `Stats::partial` is true. What writes a file throws in any
  /// case.
  bool keep_partial = false;
};

}  // namespace ooc
