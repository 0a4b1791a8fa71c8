#pragma once

#include <ooc/detail/transfer/transfer.hpp>
#include <ooc/device.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace ooc::detail {

/// Reports the reads or writes of a Reader or Writer to an observer, if there is one. Used by the
/// thread of the reader or writer.
class TransferReporter final : public TransferObserver {
 public:
  /// `kind`: read or write. `slots`: number of slots of the pool. `observe` must outlive this
  /// object, and may be empty. `own_numbers`: number of slots, from the first on, that are reported
  /// by their own index; the others share numbers.
  TransferReporter(TraceEvent::Kind kind, std::size_t slots, const Observe& observe,
                   std::size_t own_numbers = std::numeric_limits<std::size_t>::max());
  void begun(std::size_t slot, std::size_t chunk) override;
  void completed(std::size_t slot, std::size_t chunk, std::uint64_t payload_bytes) override;

 private:
  struct Begun {
    TraceEvent::Clock::time_point when{};
    std::uint64_t range = 0;  // NVTX range
    std::size_t number = 0;
  };

  std::size_t number_of(std::size_t slot);

  TraceEvent::Kind kind_;
  const Observe& observe_;
  std::size_t own_numbers_;
  std::vector<Begun> begun_;         // indexed by slot
  std::vector<bool> shared_in_use_;  // numbers from `own_numbers_` on that are in use
};

/// Reports work on a device between two events to an observer, if there is one. Used by one thread,
/// which must be bound to the device.
class EventReporter {
 public:
  /// `observe` must outlive this object, and may be empty; then nothing is done, here or later.
  /// Throws Error(device).
  EventReporter(Device& device, const Observe& observe);

  /// Sets the times of `work` from the two events, which must have happened, and reports it.
  void report(TraceEvent work, const Event& begun, const Event& ended);

 private:
  void set_origin();

  const Observe& observe_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Event> origin_;
  TraceEvent::Clock::time_point origin_time_{};
};

}  // namespace ooc::detail
