#pragma once

#include <ooc/detail/pool/tickets.hpp>
#include <ooc/detail/pool/turns.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

namespace ooc::detail {

/// Gives out the blocks of a pass's records, each to one of those who share the pass. Any thread
/// may call any function but begin() and attend().
class Blocks : public MeetingPoint {
 public:
  virtual ~Blocks() = default;

  /// Called before all others by the thread that runs the pass. Blocks are whole multiples of
  /// `step_records`, but for the end of the `records`. Returns the records of a block.
  virtual std::uint64_t begin(std::uint64_t records, std::uint64_t step_records) = 0;

  /// Returns the number of the next block, which it may wait for; nothing if there are no more, for
  /// good. Later calls return larger numbers.
  virtual std::optional<std::uint64_t> draw() = 0;

  /// True if draw() would return nothing.
  virtual bool are_taken() = 0;

  /// The number of processes of this machine that share the blocks, and its memory.
  virtual std::size_t processes() const noexcept { return 1; }

  /// Called often by the thread that runs the pass, while that goes on. An error fails the pass.
  virtual void attend() {}
};

/// The blocks of a pass that devices of one process share. A stop request ends them.
class LocalBlocks final : public Blocks {
 public:
  explicit LocalBlocks(std::stop_token stop) : forward_(std::move(stop), End{&stop_}) {}

  std::uint64_t begin(std::uint64_t records, std::uint64_t step_records) override;
  std::optional<std::uint64_t> draw() override { return tickets_->draw(); }
  bool are_taken() override { return tickets_->next() >= tickets_->end(); }
  void abort() noexcept override { stop_.request_stop(); }

 private:
  struct End {
    std::stop_source* stop;
    void operator()() const noexcept { stop->request_stop(); }
  };

  std::stop_source stop_;
  std::stop_callback<End> forward_;
  std::optional<Tickets> tickets_;
};

}  // namespace ooc::detail
