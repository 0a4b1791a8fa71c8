#pragma once

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/device.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace ooc::detail::product {

/// Measures the device time of work on a stream by events. The events are used in rotation and read
/// before they are reused, so begin() may block until earlier work is done. Used by one thread.
class WorkTimer {
 public:
  WorkTimer(Device& device, const Observe& observe);

  /// Called before and after a piece of work is enqueued. The observer gets its event later.
  void begin(Stream& stream);
  void end(Stream& stream, const TraceEvent& work);

  /// Waits for all work so far, and returns its total time.
  double seconds();

 private:
  struct Piece {
    std::unique_ptr<Event> begun, ended;
    TraceEvent work{};
    bool pending = false;
  };

  void take_in(Piece& piece);

  std::array<Piece, 4> pieces_;
  std::size_t next_ = 0;
  EventReporter reporter_;
  double seconds_ = 0;
};

}  // namespace ooc::detail::product
