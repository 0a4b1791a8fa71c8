#pragma once

#include <ooc/detail/base/language.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace ooc {

/// The work of one stage on one chunk, with begin and end. Times are from one clock for all passes,
/// so that several passes, and the program's own work between them, fit on one timeline.
struct TraceEvent {
  using Clock = std::chrono::steady_clock;  ///< of the host, also for work of a GPU

  /// `h2d` and `d2h` are copies to and from the device. Folds and maps on the CPU have none.
  enum class Kind : std::uint8_t { read, h2d, kernel, d2h, write };

  /// The index of work that does not belong to one chunk: in matmul a product of panels, or the
  /// copy of a panel that was kept in host memory to the device.
  static constexpr std::size_t no_chunk = std::numeric_limits<std::size_t>::max();

  Kind kind{};  ///< the stage
  /// The lane, or for a read or write the slot of the pool. Slots that are not in use all the time
  /// share the next higher numbers, one for each of them in use at once.
  std::size_t worker = 0;
  /// Index in the plan of the pass; in a pass that devices share, among the chunks of each.
  std::size_t chunk = 0;
  std::uint64_t bytes = 0;    ///< payload that was moved, or passed to the operator
  Clock::time_point begin{};  ///< of the work
  Clock::time_point end{};    ///< of the work
};

/// A callback for trace events. May be called by several threads at once.
using Observe = std::function<void(const TraceEvent&)>;

}  // namespace ooc
