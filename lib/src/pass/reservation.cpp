#include <ooc/coordinator.hpp>
#include <ooc/error.hpp>

namespace ooc {

Coordinator::Reservation::Reservation(std::atomic_flag& busy, Device& device) : device_(&device) {
  if (!busy.test_and_set()) {
    busy_.reset(&busy);
    return;
  }
  throw Error(ErrorKind::usage, "the coordinator is busy",
              {.why = "it runs one pass at a time, and one has not ended",
               .hint = "wait for that pass, or make a coordinator for each thread"});
}

void Coordinator::Reservation::bind_thread() {
  if (bound_) return device_->bind_to_thread();  // to which a callback may have bound it since
  void* const before = device_->bind_for_now();
  bound_ = {device_, BindBack{before}};
}

void Coordinator::Reservation::BindBack::operator()(Device* device) const noexcept {
  device->bind_back(before);
}

}  // namespace ooc
