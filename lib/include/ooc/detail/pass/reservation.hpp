#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/device/binding.hpp>

#include <atomic>
#include <memory>
#include <optional>

namespace ooc::detail {

/// The exclusive right to use a coordinator. Must be destroyed before the coordinator.
class OOC_API Reservation {
 public:
  /// Throws Error(usage) if there is another reservation.
  Reservation(std::atomic_flag& busy, Device& device);

  /// Binds the calling thread to the device, until unbind_thread() is called, or the reservation
  /// dies, on that thread. Throws Error(device).
  void bind_thread();

  /// Does nothing if no thread is bound.
  void unbind_thread() noexcept { bound_.reset(); }

 private:
  struct Clear {
    void operator()(std::atomic_flag* busy) const noexcept { busy->clear(); }
  };
  std::unique_ptr<std::atomic_flag, Clear> busy_;
  Device* device_;
  std::unique_ptr<DeviceBinding> bound_;
};

}  // namespace ooc::detail
