#pragma once

#include <ooc/detail/observe/trace_event.hpp>
#include <ooc/detail/pass/checkpoint.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

namespace ooc {

/// The progress of a pass.
struct Progress {
  std::uint64_t bytes = 0;        ///< of the source that are done
  std::uint64_t total_bytes = 0;  ///< 0 if that shows at the end
  double seconds = 0;             ///< since the pass began
  std::size_t in_flight = 0;      ///< reads and writes in flight
  double stalled_seconds = 0;     ///< time without a completion among these
  /// Part of `bytes` that an earlier run has done: see Checkpoint.
  std::uint64_t resumed_bytes = 0;
};

/// Options of one pass; Options, of a coordinator, concern the machine. A job of several passes,
/// such as a histogram that first looks for its range, uses the same PassOptions for each.
///
///     std::stop_source stop;
///     ooc::fold(coordinator, op, source, {.stop = stop.get_token()});
struct PassOptions {
  /// Stops the pass early. The coordinator can be used again afterwards.
  std::stop_token stop{};

  /// Called about ten times a second, and once at the end, on the thread that runs the pass. An
  /// exception from it fails the pass.
  std::function<void(const Progress&)> progress{};

  /// Called after each piece of work of a stage on a chunk, by the thread that did it; several
  /// threads may call it at once. It should be fast. An exception from it fails the pass. If empty,
  /// nothing is recorded and no time is spent.
  Observe observe{};

  /// Also computes XXH3-128 of the bytes of the source, in their order. Ignored by matmul().
  bool checksum = false;

  /// If true, a stopped fold returns its result for the `OutcomeStats::bytes` bytes of the source
  /// that it has processed, and sets `OutcomeStats::partial`. If false, and always for jobs that
  /// write a file, a stopped one throws Error(interrupted).
  bool keep_partial = false;

  /// A file from which a job goes on if it was stopped or killed. The operator of a fold is a
  /// SavableFold, and that of a map, a filter or a scan has a `partial_name`, too; the source has
  /// files. The data are then read from beginning to end, in several passes if that takes longer
  /// than Checkpoint::every_seconds. A job that is stopped throws Error(interrupted). Refused with
  /// a checksum, and by all other jobs.
  Checkpoint checkpoint{};
};

}  // namespace ooc
