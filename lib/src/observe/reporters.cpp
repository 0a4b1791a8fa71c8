#include <ooc/detail/observe/reporters.hpp>

#include <algorithm>
#include <chrono>

#include "device/nvtx_range.hpp"

namespace ooc::detail {

namespace {

using Clock = TraceEvent::Clock;

Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

TransferReporter::TransferReporter(TraceEvent::Kind kind, std::size_t slots, const Observe& observe,
                                   std::size_t own_numbers)
    : kind_(kind),
      observe_(observe),
      own_numbers_(std::min(slots, own_numbers)),
      begun_(slots),
      shared_in_use_(slots - own_numbers_) {}

/// Slots that are used once share numbers, because a timeline with a line for each would be
/// unreadable.
std::size_t TransferReporter::number_of(std::size_t slot) {
  if (slot < own_numbers_) return slot;
  const auto found = std::ranges::find(shared_in_use_, false);
  *found = true;
  return own_numbers_ + static_cast<std::size_t>(found - shared_in_use_.begin());
}

void TransferReporter::begun(std::size_t slot, std::size_t chunk) {
  Begun& begun = begun_[slot];
  begun.range = begin_nvtx_range(kind_ == TraceEvent::Kind::read ? "read" : "write", chunk);
  if (!observe_) return;
  begun.number = number_of(slot);
  begun.when = Clock::now();
}

void TransferReporter::completed(std::size_t slot, std::size_t chunk, std::uint64_t payload_bytes) {
  end_nvtx_range(begun_[slot].range);
  if (!observe_) return;
  const std::size_t number = begun_[slot].number;
  if (number >= own_numbers_) shared_in_use_[number - own_numbers_] = false;
  observe_({.kind = kind_,
            .worker = number,
            .chunk = chunk,
            .bytes = payload_bytes,
            .begin = begun_[slot].when,
            .end = Clock::now()});
}

EventReporter::EventReporter(Device& device, const Observe& observe) : observe_(observe) {
  if (!observe_) return;
  stream_ = device.make_stream();
  origin_ = device.make_event();
  set_origin();
}

void EventReporter::report(TraceEvent work, const Event& begun, const Event& ended) {
  if (!observe_) return;
  // Renew the origin: the time since an old event is imprecise (a float), and the clocks of host
  // and device drift apart.
  constexpr std::chrono::seconds longest{1};
  Clock::duration since_origin = duration_of(ended.seconds_since(*origin_));
  if (since_origin > longest) {
    set_origin();
    since_origin = duration_of(ended.seconds_since(*origin_));  // negative: precedes the origin
  }
  work.end = origin_time_ + since_origin;
  work.begin = work.end - duration_of(ended.seconds_since(begun));
  observe_(work);
}

/// Records an event and the host's time at which it happens. The event has its own, idle stream, so
/// it happens when it is recorded. The wake-up of a thread that waits for an event is less precise:
/// it is late, or the thread is busy when the event happens. Tries again if the thread was
/// interrupted.
void EventReporter::set_origin() {
  constexpr std::chrono::microseconds good{20};
  constexpr int most_tries = 3;
  Clock::duration spent = Clock::duration::max();
  for (int i = 0; i < most_tries && spent > good; ++i) {
    const Clock::time_point before = Clock::now();
    stream_->record(*origin_);
    spent = Clock::now() - before;
    origin_time_ = before + spent / 2;
    origin_->synchronize();
  }
}

}  // namespace ooc::detail
