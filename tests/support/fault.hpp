#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace ooc::detail::test {

/// Counts calls and tells which of them are to fail: call number `nth` (from 0), or all from there
/// on. Any number of threads may share it.
class Fault {
 public:
  enum class Mode { once, from_then_on };

  Fault(std::size_t nth, Mode mode) : nth_(nth), mode_(mode) {}

  /// Counts a call. True if it is to fail.
  bool strikes() noexcept {
    const std::size_t call = calls_++;
    const bool fails = mode_ == Mode::once ? call == nth_ : call >= nth_;
    if (fails) has_struck_ = true;
    return fails;
  }

  bool has_struck() const noexcept { return has_struck_; }
  Mode mode() const noexcept { return mode_; }

 private:
  std::size_t nth_;
  Mode mode_;
  std::atomic<std::size_t> calls_{0};
  std::atomic<bool> has_struck_{false};
};

/// Calls `run(fault)` again and again, with the fault `step` calls later each time, until it does
/// not strike in a run. Returns the number of calls in a run, rounded up to a multiple of `step`.
template <class Run>
std::size_t walk(Fault::Mode mode, std::size_t step, Run&& run) {
  for (std::size_t nth = 0;; nth += step) {
    Fault fault(nth, mode);
    run(fault);
    if (!fault.has_struck()) return nth;
  }
}

}  // namespace ooc::detail::test
