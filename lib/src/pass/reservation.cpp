#include <ooc/detail/pass/reservation.hpp>
#include <ooc/error.hpp>

namespace ooc::detail {

Reservation::Reservation(std::atomic_flag& busy, Device& device) : device_(&device) {
  if (!busy.test_and_set()) {
    busy_.reset(&busy);
    return;
  }
  throw Error(ErrorKind::usage, "the coordinator is busy",
              {.why = "it runs one pass at a time, and one has not ended",
               .hint = "wait for that pass, or make a coordinator for each thread"});
}

void Reservation::bind_thread() {
  if (bound_) return device_->bind_to_thread();  // a callback may have bound the thread elsewhere
  bound_ = std::make_unique<DeviceBinding>(*device_);
}

}  // namespace ooc::detail
