#pragma once

#include <ooc/device.hpp>
#include <ooc/reporters.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace ooc::product {

/// Device time of work on a stream, by events that are read when their turn comes again: a few
/// pieces may be enqueued, not more. Belongs to one thread.
class WorkTimer {
 public:
  WorkTimer(Device& device, const Observe& observe);

  /// To be called before a piece of work is enqueued, and after. The observer is told of it later.
  void begin(Stream& stream);
  void end(Stream& stream, const TraceEvent& work);

  /// Of all work so far, for which it waits.
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

}  // namespace ooc::product
