#pragma once

#include <ooc/buffer.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/device.hpp>
#include <ooc/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "pass/feed.hpp"
#include "pass/pass_parts.hpp"
#include "pass/sink.hpp"
#include "sizing/layout.hpp"

namespace ooc {

/// One stream, its device memory and, during a pass, the thread that calls run(): takes step after
/// step through the operation.
class Lane {
 public:
  Lane(Device& device, std::size_t index);

  /// Between passes: says what buffers the next pass needs, and gives back those of another size.
  void reserve(const LaneBuffers& buffers);

  /// Allocates them, and what else run() needs. On a thread that is bound to the device. Throws
  /// Error.
  void prepare(const Observe& observe);

  /// Between passes: gives all of it back.
  void release();

  /// Throws Error, Aborted. When it returns or throws, the device no longer touches the pool.
  void run(const PassParts& pass);

  /// Of the last run.
  struct Times {
    StageTimes h2d, kernel, d2h;
    std::uint64_t bytes = 0;
    double first_seconds = 0;  // when the operation had returned for the first time
  };
  const Times& times() const noexcept { return times_; }

 private:
  /// The operator's work on one of the input buffers.
  struct Kernel {
    std::unique_ptr<Event> begun, ended;
    bool is_pending = false;  // the events are recorded and have not been taken in
    TraceEvent work;
  };

  void consume(const PassParts& pass);
  std::unique_ptr<Feed> make_feed(const PassParts& pass);
  std::unique_ptr<Sink> make_sink(const PassParts& pass);
  Kernel& process(const PassParts& pass, const FedStep& step, DeviceSpan<std::byte> out);
  void take_in(Kernel& kernel);
  void check_launches();

  Device& device_;
  std::size_t index_;
  std::unique_ptr<Stream> stream_;
  std::optional<EventReporter> reporter_;
  std::array<CopyBuffer, 2> inputs_;
  std::array<Kernel, 2> kernels_;  // by input buffer
  std::array<CopyBuffer, 2> results_;
  Times times_;
};

}  // namespace ooc
