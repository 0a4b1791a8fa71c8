#pragma once

#include <chrono>
#include <cstddef>
#include <ooc/coordinator.hpp>
#include <string>

#include "terminal.hpp"

namespace ooc_run {

/// automatic: a bar if somebody looks; plain: a line every two seconds; none.
enum class ProgressMode { automatic, plain, none };

/// How far a run is.
struct ProgressState {
  std::uint64_t bytes = 0;
  std::uint64_t total_bytes = 0;  // of one pass
  std::size_t pass = 1;
  std::size_t passes = 1;
  double seconds = 0;      // of this pass
  double rate_before = 0;  // bytes per second, of the pass before
};

/// One line of text: percentage of the whole run, bytes, rate and the time left.
std::string describe_progress(const ProgressState& state);

/// The same with a bar, as far as they fit the terminal, of 40 columns or more.
std::string draw_progress(const ProgressState& state, const Terminal& terminal);

/// Shows on stderr how far a run is. Belongs to one thread. A bar is gone when this is.
class ProgressMeter {
 public:
  /// `passes`: how often the run goes through the input. A new pass is noticed by its bytes, which
  /// begin anew.
  ProgressMeter(ProgressMode mode, std::size_t passes);
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

  void update(std::uint64_t bytes, std::uint64_t total_bytes);

  /// Makes room for something else.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  ProgressMode mode_;
  ProgressState state_;
  Clock::time_point pass_began_ = Clock::now();
  Clock::time_point shown_ = Clock::now();
  bool visible_ = false;
};

}  // namespace ooc_run
