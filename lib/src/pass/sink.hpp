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

/// Takes the results of a lane's steps, each to its place in the output; without an output, it
/// gives their slots back. Belongs to the lane's thread.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Returns memory to which the operator writes the result of a step; empty without an output.
  virtual DeviceSpan<std::byte> room(const FedStep& step) = 0;

  /// The operator's work on the step is enqueued, and ends with the event `computed`.
  virtual void commit(const FedStep& step, DeviceSpan<std::byte> result, Event& computed) = 0;

  /// Passes all results on to the writer. A lane does so before it waits for a read, since the
  /// reader may need the slots that they are in.
  virtual void flush() = 0;
};

/// For devices that read host memory: the operator writes to the slot of its step.
class HostSink final : public Sink {
 public:
  explicit HostSink(const PassParts& pass) : pass_(pass) {}

  DeviceSpan<std::byte> room(const FedStep& step) override;
  void commit(const FedStep& step, DeviceSpan<std::byte> result, Event& computed) override;
  void flush() override {}

 private:
  const PassParts& pass_;
};

/// Copies each result to the host, into the slot that its step came in, while the operator works on
/// the next one.
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
  std::array<Chunk*, 2> copying_{};  // by buffer: the slot that takes the copy, if one is enqueued
  std::size_t turn_ = 0;
};

}  // namespace ooc
