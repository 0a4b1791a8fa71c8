#pragma once

#include <ooc/detail/transfer/transfer.hpp>
#include <ooc/device.hpp>
#include <ooc/trace_event.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace ooc {

/// Tells an observer, if there is one, what a Reader or a Writer has done. Belongs to its thread.
class TransferReporter final : public TransferObserver {
 public:
  /// `kind`: read or write; `slots`: of the pool. `observe` must outlive this, and may be empty.
  /// `own_numbers`: slots from the first on that are reported each by its own number.
  TransferReporter(TraceEvent::Kind kind, std::size_t slots, const Observe& observe,
                   std::size_t own_numbers = std::numeric_limits<std::size_t>::max());
  void begun(std::size_t slot, std::size_t chunk) override;
  void completed(std::size_t slot, std::size_t chunk, std::uint64_t payload_bytes) override;

 private:
  struct Begun {
    TraceEvent::Clock::time_point when{};
    std::uint64_t range = 0;  // on the timeline of NVIDIA's tools
    std::size_t number = 0;
  };

  std::size_t number_of(std::size_t slot);

  TraceEvent::Kind kind_;
  const Observe& observe_;
  std::size_t own_numbers_;
  std::vector<Begun> begun_;         // by slot
  std::vector<bool> shared_in_use_;  // numbers after those of the own slots that are in use now
};

/// Tells an observer, if there is one, of work on a device that lies between two events. Belongs to
/// one thread, which is bound to the device.
class EventReporter {
 public:
  /// `observe` must outlive this, and may be empty: then nothing is done, here or later.
  EventReporter(Device& device, const Observe& observe);

  /// Both events have happened. Fills in the times.
  void report(TraceEvent work, const Event& begun, const Event& ended);

 private:
  void set_origin();

  const Observe& observe_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Event> origin_;
  TraceEvent::Clock::time_point origin_time_{};
};

}  // namespace ooc
