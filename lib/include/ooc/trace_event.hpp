#pragma once

#include <ooc/io/language.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace ooc {

/// What a stage of a pass has done with a chunk, and when. Times are of one clock for all passes,
/// so that several of them, and what a program does in between, fit on one timeline.
struct TraceEvent {
  using Clock = std::chrono::steady_clock;

  /// `h2d` and `d2h`: copies to the device and back, which the CPU's folds and maps do without.
  enum class Kind : std::uint8_t { read, h2d, kernel, d2h, write };

  /// The index of what is not of one chunk: in matmul a product of panels, or the copy to the
  /// device of a panel that was kept in host memory.
  static constexpr std::size_t no_chunk = std::numeric_limits<std::size_t>::max();

  Kind kind{};
  /// The lane, or of a read or a write the slot of the pool. Slots that are not in use all the time
  /// share the next higher numbers: as many as are read into, or written from, at once.
  std::size_t worker = 0;
  std::size_t chunk = 0;    // its index in the plan of the pass
  std::uint64_t bytes = 0;  // of payload that were moved, or given to the operator
  Clock::time_point begin{}, end{};
};

using Observe = std::function<void(const TraceEvent&)>;

}  // namespace ooc
