#pragma once

#include <chrono>
#include <cstddef>
#include <ooc/coordinator.hpp>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "request/run_settings.hpp"
#include "timeline/recent_rate.hpp"
#include "timeline/stage_load.hpp"

namespace ooc_run {

/// How far a run is.
struct ProgressState {
  std::uint64_t bytes = 0;
  std::uint64_t total_bytes = 0;  // of one pass
  std::size_t pass = 1;
  std::size_t passes = 1;
  double rate = 0;  // bytes per second, 0 before that is known
  std::vector<StageShare> stages{};
};

/// One line of text: percentage of the whole run, bytes, rate and the time left.
std::string describe_progress(const ProgressState& state);

/// The same with bars of it and of how busy the stages are, as far as they fit the terminal, of 40
/// columns or more.
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

  /// Whether it shows how busy the stages are, and so wants to know.
  bool shows_stages() const noexcept { return mode_ == ProgressMode::automatic; }

  void update(std::uint64_t bytes, std::uint64_t total_bytes, std::vector<StageShare> stages = {});

  /// Makes room for something else.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  ProgressMode mode_;
  ProgressState state_;
  RecentRate rate_;
  Clock::time_point updated_ = Clock::now();
  Clock::time_point shown_ = Clock::now();
  bool visible_ = false;
};

}  // namespace ooc_run
