#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

namespace ooc::detail {

/// Gives out the steps of a pass, 0, 1, 2 ..., to the threads that call draw(). A pass is stopped
/// by giving out no more. All steps that were given out are finished, so the finished steps are a
/// prefix of all steps. Any thread may call any function.
class Tickets {
 public:
  /// `count`: number of steps. None is given out after a stop request.
  explicit Tickets(std::size_t count, std::stop_token stop = {})
      : count_(count), stop_(std::move(stop)) {}

  /// Returns the next step; nothing if there are no more, or after a stop request.
  std::optional<std::size_t> draw() noexcept {
    close_if_stopped();
    std::uint64_t word = word_;
    do {
      if ((word & closed) != 0 || word / one >= count_) return std::nullopt;
    } while (!word_.compare_exchange_weak(word, word + one));
    return word / one;
  }

  /// Returns the step that draw() would return next if no other thread drew one.
  std::size_t next() const noexcept { return word_ / one; }

  /// Returns the number of steps of the pass. After a stop request it is the number of steps that
  /// were given out, which does not change any more.
  std::size_t end() noexcept {
    close_if_stopped();
    const std::uint64_t word = word_;
    return (word & closed) != 0 ? word / one : count_;
  }

 private:
  void close_if_stopped() noexcept {
    if (stop_.stop_requested()) word_ |= closed;
  }

  // The number of steps given out and, in the lowest bit, a flag that no more are. Both are in one
  // word, so that no thread sees one without the other.
  static constexpr std::uint64_t closed = 1, one = 2;

  std::size_t count_;
  std::stop_token stop_;
  std::atomic<std::uint64_t> word_{0};
};

}  // namespace ooc::detail
