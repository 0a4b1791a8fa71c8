#pragma once

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/device.hpp>
#include <ooc/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pass/feed.hpp"
#include "pass/pass_parts.hpp"

namespace ooc::detail {

/// Passes the results of a lane's steps on to the writer. Without outputs, gives the slots of the
/// steps back unless the feed has done so. Belongs to the lane's thread.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Returns room for the results of a step, until the next call.
  virtual StepResults room(const FedStep& step) = 0;

  /// Called when the operator's work on the step is enqueued. The event `computed` is recorded at
  /// its end.
  virtual void commit(const FedStep& step, const StepResults& results, Event& computed) = 0;

  /// Passes all results on to the writer. A lane calls it before it waits for a read, because the
  /// reader may need the slots of these results.
  virtual void flush() = 0;

 protected:
  explicit Sink(const PassParts& pass) : pass_(pass), outputs_(pass.places.outputs.size()) {}

  /// Returns how many numbers an operation that selects makes for a step.
  std::size_t made_numbers() const;

  /// Returns room for the results of a number of records in `memory`.
  StepResults room_in(std::byte* memory, std::uint64_t records);

  /// A result on the device, and its place in the slot of its step.
  struct Moved {
    std::span<std::byte> target;
    const std::byte* source;
  };

  /// Makes the places of the results in their slot the segments of its chunk. If the pass appends,
  /// waits for the turn of the step. `made`: the numbers of records if the operation selects.
  /// Returns where each of these segments comes from. Throws Error, Aborted.
  std::span<const Moved> lay_out(const FedStep& step, const StepResults& results,
                                 const std::uint64_t* made);

  const PassParts& pass_;

 private:
  void lay_out_groups(const FedStep& step, const StepResults& results, const std::uint64_t* made);

  std::vector<DeviceSpan<std::byte>> outputs_;
  std::vector<std::uint64_t> made_;  // numbers of records of an operation that makes all
  std::vector<Moved> moved_;
};

/// The sink of devices that read host memory: the operator writes to the slot of its step.
class HostSink final : public Sink {
 public:
  explicit HostSink(const PassParts& pass) : Sink(pass) {}

  StepResults room(const FedStep& step) override;
  void commit(const FedStep& step, const StepResults& results, Event& computed) override;
  void flush() override {}
};

/// Copies results to the host, into the slot of their step, while the operator works on the next
/// step. If the pass appends, the numbers of records are copied first.
class CopySink final : public Sink {
 public:
  /// All references must outlive it.
  CopySink(const PassParts& pass, std::size_t lane, Stream& stream,
           std::array<CopyBuffer, 2>& buffers, EventReporter& reporter, StageTimes& d2h);

  StepResults room(const FedStep& step) override;
  void commit(const FedStep& step, const StepResults& results, Event& computed) override;
  void flush() override;

 private:
  /// Results whose copy is enqueued.
  struct Copying {
    Chunk* chunk = nullptr;  // whose slot receives them; null: none
    std::size_t bytes = 0;
  };

  std::span<std::uint64_t> made_in_slot(const FedStep& step) const;
  const std::uint64_t* fetch_made(const FedStep& step, const StepResults& results);
  void finish_copy(std::size_t buffer);

  std::size_t lane_;
  Stream& stream_;
  std::array<CopyBuffer, 2>& buffers_;
  EventReporter& reporter_;
  StageTimes& d2h_;
  std::array<Copying, 2> copying_{};  // by buffer
  std::size_t turn_ = 0;
};

}  // namespace ooc::detail
