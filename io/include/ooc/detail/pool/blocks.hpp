#pragma once

#include <ooc/detail/pool/tickets.hpp>
#include <ooc/detail/pool/turns.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

namespace ooc::detail {

/// Gives out the blocks of a pass's records, each to one of the devices or ranks that share the
/// pass. Any thread may call any function but begin() and attend().
class Blocks : public MeetingPoint {
 public:
  virtual ~Blocks() = default;

  /// Returns the number of records of a block, a multiple of `step_records`; the last block ends
  /// with the `records`. Called before all other functions, by the thread that runs the pass.
  virtual std::uint64_t begin(std::uint64_t records, std::uint64_t step_records) = 0;

  /// Returns the number of the next block; may wait for it. Returns nothing, now and in later
  /// calls, if there are no more. Later calls return larger numbers.
  virtual std::optional<std::uint64_t> draw() = 0;

  /// True if draw() would return nothing.
  virtual bool are_taken() = 0;

  /// Returns the number of processes on this machine that share the blocks, and its memory.
  virtual std::size_t processes() const noexcept { return 1; }

  /// Called often during the pass, by the thread that runs it. An exception fails the pass.
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
