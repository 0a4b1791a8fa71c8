#include "matmul/work_timer.hpp"

namespace ooc::detail::product {

WorkTimer::WorkTimer(Device& device, const Observe& observe) : reporter_(device, observe) {
  for (Piece& piece : pieces_) {
    piece.begun = device.make_event();
    piece.ended = device.make_event();
  }
}

void WorkTimer::begin(Stream& stream) {
  Piece& piece = pieces_[next_];
  take_in(piece);
  stream.record(*piece.begun);
}

void WorkTimer::end(Stream& stream, const TraceEvent& work) {
  Piece& piece = pieces_[next_];
  stream.record(*piece.ended);
  piece.work = work;
  piece.pending = true;
  next_ = (next_ + 1) % pieces_.size();
}

double WorkTimer::seconds() {
  for (std::size_t i = 0; i < pieces_.size(); ++i) take_in(pieces_[(next_ + i) % pieces_.size()]);
  return seconds_;
}

void WorkTimer::take_in(Piece& piece) {
  if (!piece.pending) return;
  piece.pending = false;
  piece.ended->synchronize();
  seconds_ += piece.ended->seconds_since(*piece.begun);
  reporter_.report(piece.work, *piece.begun, *piece.ended);
}

}  // namespace ooc::detail::product
