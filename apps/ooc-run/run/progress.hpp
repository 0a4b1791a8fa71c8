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

/// The progress of a run.
struct ProgressState {
  std::uint64_t bytes = 0;
  std::uint64_t total_bytes = 0;  // of one pass
  std::size_t pass = 1;
  std::size_t passes = 1;
  double rate = 0;  // bytes per second; 0 before it is known
  std::vector<StageShare> stages{};
};

/// Returns a line of text: percentage of the whole run, bytes, rate and the time left.
std::string describe_progress(const ProgressState& state);

/// Returns the same line with a progress bar and bars for the load of the stages, if they fit the
/// terminal. It must have at least 40 columns.
std::string draw_progress(const ProgressState& state, const Terminal& terminal);

/// Shows the progress of a run on stderr. To be used by one thread. The destructor erases the bar.
class ProgressMeter {
 public:
  /// `passes`: number of passes of the run over its input. A new pass is recognised by its number
  /// of bytes, which is less than that of the last update.
  ProgressMeter(ProgressMode mode, std::size_t passes);
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

  /// True if it shows the load of the stages, so that update() needs it.
  bool shows_stages() const noexcept { return mode_ == ProgressMode::automatic; }

  void update(const ooc::Progress& progress, std::vector<StageShare> stages = {});

  /// Erases the bar, to make room for other output.
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
