#include <ooc/detail/base/io_meter.hpp>

#include <algorithm>

namespace ooc::detail {

IoMeter& IoMeter::of_process() noexcept {
  static IoMeter meter;
  return meter;
}

IoMeter::Stall IoMeter::stall() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  const auto most =
      std::ranges::max_element(waiting_, {}, [](const auto& each) { return each.load(); });
  const bool waits = *most > 0;
  const std::uint64_t completed = completed_, bytes = bytes_;
  if (completed != completed_before_ || bytes - bytes_before_ >= least_bytes) {
    completed_before_ = completed;
    bytes_before_ = bytes;
    seconds_ = 0;
  } else if (waits && waited_) {
    seconds_ += std::chrono::duration<double>(now - last_).count();
  }
  waited_ = waits;
  last_ = now;
  const auto peer = static_cast<std::size_t>(most - waiting_.begin());
  return {.seconds = waits ? seconds_ : 0,
          .peer = static_cast<IoPeer>(peer),
          .in_flight = in_flight_[peer],
          .bytes = bytes - bytes_before_};
}

}  // namespace ooc::detail
