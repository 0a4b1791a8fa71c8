#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <ooc/stats.hpp>
#include <optional>
#include <vector>

#include "timeline/rate_bins.hpp"

namespace ooc_run {

/// A record of a run for the page of --report: rates over the whole run, and each event of the
/// first, the middle and the last 200 ms. Memory is bounded, and allocated before the run.
///
/// The middle is not known before the run ends. So time is divided into pieces of 200 ms, and every
/// n-th piece is kept, from the first on. When a 17th would be kept, every other piece is dropped,
/// and n doubles. At the end there are 8 to 16 pieces (fewer after a short run), and the best one
/// is at most a sixteenth of the run away from the middle.
class RunRecord {
 public:
  using Clock = ooc::TraceEvent::Clock;
  using Time = std::chrono::nanoseconds;  // since the first event began

  static constexpr Time window_length = std::chrono::milliseconds{200};

  /// Maximum number of events per window. More could not be distinguished in a picture.
  static constexpr std::size_t most_events = 4096;

  enum class Part { first, middle, last };

  /// A part of the run, and all events that overlap it.
  struct Window {
    Part part;
    Time begin, end;
    std::vector<ooc::TraceEvent> events;
  };

  explicit RunRecord(std::size_t most = most_events);

  /// May be called by any thread.
  void record(const ooc::TraceEvent& event);

  /// Marks the end of the run. Later events, such as those of a check of the result, are ignored.
  void finish();

  // To be called after the run.

  Time duration() const noexcept { return duration_; }
  Time time_of(Clock::time_point when) const;

  /// Returns the windows in order of time; they do not overlap. A short run has fewer than three.
  /// If there were more events than fit, windows are shorter.
  std::vector<Window> windows() const;

  const RateBins& read() const noexcept { return read_; }
  const RateBins& written() const noexcept { return written_; }

 private:
  void keep_in_pieces(const ooc::TraceEvent& event, Time begin, Time end);
  void keep_every_other_piece();
  Window first_window() const;
  Window last_window(Time not_before) const;
  std::optional<Window> middle_window(Time not_before, Time not_after) const;
  Window window(Part part, Time begin, Time end, const std::vector<ooc::TraceEvent>& events) const;
  Time end_of_piece(std::size_t piece_index) const;

  std::size_t most_;

  // Held for about forty nanoseconds, a few times per chunk.
  std::mutex mutex_;
  bool finished_ = false;
  std::optional<Clock::time_point> start_;
  Time duration_{};
  std::int64_t stride_ = 1;                           // every stride_-th piece is kept
  std::vector<std::vector<ooc::TraceEvent>> pieces_;  // the events of each kept piece
  std::vector<ooc::TraceEvent> latest_;               // a circular buffer
  std::uint64_t recorded_ = 0;
  RateBins read_, written_;
};

}  // namespace ooc_run
