#pragma once

#include <ooc/chunks.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/device.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace ooc::detail {

/// The step that a lane lends at present.
struct LentStep {
  enum class State { none, offered, lent, returned };

  State state = State::none;  // under the mutex of the Lender
  std::size_t index = 0, count = 0;
  std::uint64_t first = 0;
  std::vector<DeviceSpan<const std::byte>> inputs{};
  std::unique_ptr<Event> ready{}, done{};  // the rows are there; the borrower's work has ended
  std::exception_ptr error{};              // of giving it back
};

/// The operation whose lanes lend their steps, in the order of the pass, to the thread that calls
/// take(). A lane waits until its step is back, so there are as many leases as lanes at most.
class Lender final : public Operation {
 public:
  /// All references must outlive it.
  Lender(Device& device, const Lending& lending, std::vector<ChunkSource> sources,
         std::size_t record_bytes);

  std::size_t partition() const noexcept override { return partition_; }
  std::optional<Lending> lending() const noexcept override { return lending_; }
  void prepare(std::size_t lanes, std::size_t steps) override;
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& out) override;
  void end(std::size_t lane, Stream& stream) override;
  void abort() noexcept override { close(); }
  /// Called if the pass has failed.
  void fail() noexcept;

  /// Waits until take() returns at once, or for some time. Returns true if it would.
  bool wait_for(std::chrono::milliseconds time);

  /// Blocks until the next step is offered, and takes it. Returns null if there are no more, or the
  /// pass has ended. Throws Error(usage) if all steps of the lanes are lent.
  LentStep* take();

  /// The numbers of lanes and of steps of a pass.
  struct Size {
    std::size_t lanes, steps;
  };
  /// Blocks until the pass has begun. Returns nothing if that has failed.
  std::optional<Size> size();

  void give_back(LentStep& step, Stream& stream) noexcept;

  /// Called when the borrower wants no more steps, or when the pass has ended.
  void close() noexcept;

  /// Waits for the borrower's work on steps that no lane has taken back, because the lender was
  /// closed. Called after the end of the pass.
  void finish() noexcept;

  bool is_closed() const;
  const Source& source(std::size_t index) const;

 private:
  std::size_t lent() const {
    return static_cast<std::size_t>(
        std::ranges::count(steps_, LentStep::State::lent, &LentStep::state));
  }
  bool are_all_lent() const { return lanes_running_ != 0 && lent() == lanes_running_; }
  std::vector<LentStep>::iterator offered() {
    return std::ranges::find_if(steps_, [&](const LentStep& each) {
      return each.state == LentStep::State::offered && each.index == next_;
    });
  }
  bool is_settled() { return is_closed_ || offered() != steps_.end() || are_all_lent(); }

  Device& device_;
  Lending lending_;
  std::vector<ChunkSource> sources_;
  std::size_t partition_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LentStep> steps_;    // of each lane
  std::size_t lanes_running_ = 0;  // of those that have begun or will
  std::size_t next_ = 0;           // step to be taken
  std::size_t end_ = 0;            // of the steps; of a producer, not known before
  bool has_begun_ = false, has_failed_ = false, is_closed_ = false;
};

}  // namespace ooc::detail
