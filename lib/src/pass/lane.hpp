#pragma once

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>
#include <ooc/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pass/feed.hpp"
#include "pass/pass_parts.hpp"
#include "pass/sink.hpp"
#include "sizing/layout.hpp"

namespace ooc::detail {

/// A stream, its device memory and, during a pass, the thread that calls run(), which takes one
/// step after another through the operation.
class Lane {
 public:
  /// `index`: among the lanes of all devices of a coordinator.
  Lane(Device& device, std::size_t index);

  /// Sets which buffers the next pass needs, and frees those that do not fit. Between passes only.
  void reserve(const LaneBuffers& buffers);

  /// Allocates these buffers and everything else that run() needs. The calling thread must be bound
  /// to the device. Throws Error.
  void prepare(const Observe& observe);

  /// Frees the buffers. Between passes only.
  void release();

  /// Runs this lane of a pass. When it returns or throws, the device no longer accesses the pool.
  /// Throws Error, Aborted.
  void run(const PassParts& pass);

  /// The times of the last run.
  struct Times {
    StageTimes h2d, kernel, d2h;
    std::uint64_t records = 0, bytes = 0;
    std::size_t steps = 0;
    double first_seconds = 0;  // from the beginning of the pass to the operation's first return
    double last_seconds = 0;   // and to the end of the last step
  };
  const Times& times() const noexcept { return times_; }

 private:
  /// The operator's work on one of the input buffers.
  struct Kernel {
    std::unique_ptr<Event> begun, ended;
    bool is_pending = false;  // the events are recorded and not evaluated yet
    TraceEvent work;
  };

  void consume(const PassParts& pass);
  std::unique_ptr<Feed> make_feed(const PassParts& pass, Sink& sink);
  std::unique_ptr<Sink> make_sink(const PassParts& pass);
  Kernel& process(const PassParts& pass, const FedStep& step, const StepResults& out);
  void take_in(Kernel& kernel);
  void check_launches();

  Device& device_;
  std::size_t index_;
  std::unique_ptr<Stream> stream_;
  std::optional<EventReporter> reporter_;
  std::array<CopyBuffer, 2> inputs_;
  std::size_t input_buffers_ = 0;  // of these, that the pass uses
  std::size_t decoded_bytes_ = 0;  // size that `decoded_` needs
  Buffer decoded_;                 // for the structs of a step
  std::array<Kernel, 2> kernels_;  // by input buffer
  std::array<CopyBuffer, 2> results_;
  std::vector<DeviceSpan<const std::byte>> records_;  // of each input: those of the current step
  Times times_;
};

/// A GPU has no room for the streams' buffers. Nothing has been computed by then.
class NoRoom final : public Error {
 public:
  using Error::Error;
};

/// Allocates what the lanes of a pass need, `buffer_bytes` in all. Throws NoRoom, in which case
/// they have no buffers, and as Lane::prepare().
void prepare(std::span<const std::unique_ptr<Lane>> lanes, Device& device, const Observe& observe,
             std::size_t buffer_bytes);

}  // namespace ooc::detail
