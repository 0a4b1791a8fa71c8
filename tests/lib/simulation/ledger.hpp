#pragma once

#include <ooc/detail/pool/plan.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/simulation/scenario.hpp"
#include "lib/simulation/slot_owners.hpp"

namespace ooc::detail::test {

constexpr std::byte paint{0xee};  // of bytes that were not written

/// Records the bytes that the operator of a pass saw, or that were written, and compares them with
/// the expected ones.
class Ledger {
 public:
  Ledger(const Scenario& scenario, std::vector<std::byte> expected, Complaint& complaint)
      : plan_(scenario.plan()),
        ranges_(scenario.result_ranges()),
        is_written_(scenario.writes),
        record_bytes_(scenario.record_bytes()),
        expected_(std::move(expected)),
        next_(scenario.lanes),
        had_(plan_.steps()),
        had_elsewhere_(plan_.steps()),
        complaint_(complaint) {}

  /// Begins another pass.
  void restart() {
    std::ranges::fill(next_, std::size_t{0});
    for (auto& had : had_) had = false;
    for (auto& had : had_elsewhere_) had = false;
    result_.assign(expected_.size(), paint);
    times_.assign(result_.size(), 0);
  }

  /// Returns the step that begins with a record; the number of steps if none does.
  std::size_t step_at(std::uint64_t first) const {
    std::size_t step = 0;
    while (step < plan_.steps() && plan_.step(step).first != first) ++step;
    return step;
  }

  /// Records that the lane has a step. Returns true if no lane had it before and this lane had none
  /// after it.
  bool take(std::size_t lane, std::size_t step) {
    if (step >= had_.size() || step < next_[lane]) return false;
    next_[lane] = step + 1;
    return !had_[step].exchange(true);
  }

  /// Records that another device has the steps from `first` up to, but not including, `end`.
  void take_elsewhere(std::size_t first, std::size_t end) {
    for (std::size_t step = first; step < std::min(end, had_.size()); ++step) {
      if (had_[step].exchange(true)) complaint_.add("two devices had a step");
      had_elsewhere_[step] = true;
      const auto [begin, bytes] = ranges_[step];
      std::copy_n(expected_.begin() + static_cast<std::ptrdiff_t>(begin), bytes,
                  result_.begin() + static_cast<std::ptrdiff_t>(begin));
      for (std::uint64_t i = 0; is_written_ && i < bytes; ++i) ++times_[begin + i];
    }
  }

  /// Returns where the records that the operator of a fold sees from `first` on are to be copied.
  std::byte* seen(std::uint64_t first) { return result_.data() + first * record_bytes_; }

  void write(std::uint64_t offset, const std::byte* data, std::size_t bytes) {
    std::memcpy(result_.data() + offset, data, bytes);
    for (std::size_t i = 0; i < bytes; ++i) ++times_[offset + i];
  }

  /// True if a lane has had the step.
  bool had(std::size_t step) const { return had_[step] && !had_elsewhere_[step]; }

  /// Bytes that are compared of a step.
  std::uint64_t bytes_of(std::size_t step) const { return ranges_[step].count; }

  /// Number of steps that lanes, or another device, have had.
  std::size_t steps() const {
    return static_cast<std::size_t>(std::count(had_.begin(), had_.end(), true));
  }

  /// Checks that a pass that failed left no wrong byte and wrote none twice.
  void check_failed_pass() {
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const bool is_right = result_[i] == paint || result_[i] == expected_[i];
      if (!is_right || times_[i] > 1) complaint_.add("a wrong byte in a pass that failed");
    }
  }

  /// Checks that the steps done are a prefix, and all of them unless the pass was stopped.
  void check_prefix(bool was_stopped) {
    const std::size_t steps = this->steps();
    if (steps != had_.size() && !was_stopped) complaint_.add("steps are missing");
    for (std::size_t step = 0; step < had_.size(); ++step) {
      const bool is_done = step < steps;
      if (had_[step] != is_done) complaint_.add("what was done is not a prefix");
      for (std::uint64_t i = ranges_[step].first; i < ranges_[step].end(); ++i) {
        if (result_[i] != (is_done ? expected_[i] : paint)) complaint_.add("a wrong byte");
        if (times_[i] != (is_done && is_written_)) complaint_.add("a byte was not written once");
      }
    }
  }

 private:
  SequentialPlan plan_;
  std::vector<RecordRange> ranges_;  // bytes of each step in the compared data
  bool is_written_;
  std::size_t record_bytes_;  // of all inputs
  std::vector<std::byte> expected_;
  std::vector<std::byte> result_;
  std::vector<std::uint8_t> times_;               // how often each byte of the result was written
  std::vector<std::size_t> next_;                 // one past the last step of each lane
  std::vector<std::atomic<bool>> had_;            // steps that a lane, or another device, has had
  std::vector<std::atomic<bool>> had_elsewhere_;  // of these, by another device
  Complaint& complaint_;
};

}  // namespace ooc::detail::test
