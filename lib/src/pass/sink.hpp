#pragma once

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/device.hpp>
#include <ooc/stats.hpp>

#include <array>
#include <cstddef>

#include "pass/feed.hpp"
#include "pass/pass_parts.hpp"

namespace ooc {

/// Passes the results of a lane's steps on to the writer. Without an output, gives the slots of the
/// steps back unless the feed has done so. Belongs to the lane's thread.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Returns memory for the result of a step; empty without an output.
  virtual DeviceSpan<std::byte> room(const FedStep& step) = 0;

  /// Called when the operator's work on the step is enqueued. The event `computed` is recorded at
  /// its end.
  virtual void commit(const FedStep& step, DeviceSpan<std::byte> result, Event& computed) = 0;

  /// Passes all results on to the writer. A lane calls it before it waits for a read, because the
  /// reader may need the slots of these results.
  virtual void flush() = 0;
};

/// The sink of devices that read host memory: the operator writes to the slot of its step.
class HostSink final : public Sink {
 public:
  explicit HostSink(const PassParts& pass) : pass_(pass) {}

  DeviceSpan<std::byte> room(const FedStep& step) override;
  void commit(const FedStep& step, DeviceSpan<std::byte> result, Event& computed) override;
  void flush() override {}

 private:
  const PassParts& pass_;
};

/// Copies each result to the host, into the slot of its step, while the operator works on the next
/// step.
class CopySink final : public Sink {
 public:
  /// All references must outlive it.
  CopySink(const PassParts& pass, std::size_t lane, Stream& stream,
           std::array<CopyBuffer, 2>& buffers, EventReporter& reporter, StageTimes& d2h);

  DeviceSpan<std::byte> room(const FedStep& step) override;
  void commit(const FedStep& step, DeviceSpan<std::byte> result, Event& computed) override;
  void flush() override;

 private:
  void finish_copy(std::size_t buffer);

  const PassParts& pass_;
  std::size_t lane_;
  Stream& stream_;
  std::array<CopyBuffer, 2>& buffers_;
  EventReporter& reporter_;
  StageTimes& d2h_;
  std::array<Chunk*, 2> copying_{};  // by buffer: whose slot receives its copy, if one is enqueued
  std::size_t turn_ = 0;
};

}  // namespace ooc
