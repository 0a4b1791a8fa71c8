#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <ooc/trace_event.hpp>
#include <optional>
#include <vector>

#include "timeline/rate_bins.hpp"

namespace ooc_run {

/// What a run did when, as much of it as a page has room for: rates over the whole of it, and each
/// event of its first, its middle and its last 200 ms. Memory is bounded, and allocated before
/// the run, however long that is.
///
/// Nobody knows where the middle is before the end. So time is cut into pieces of 200 ms, of which
/// every n-th is kept, from the first on. When there are 16, every other one goes, and n doubles.
/// In the end there are 8 to 16, and one of them is off the middle by a sixteenth of the run at
/// most.
class RunRecord {
 public:
  using Clock = ooc::TraceEvent::Clock;
  using Time = std::chrono::nanoseconds;  // since the first event began

  static constexpr Time window_length = std::chrono::milliseconds{200};

  /// Of a window. More cannot be told apart in a picture.
  static constexpr std::size_t most_events = 4096;

  enum class Place { first, middle, last };

  /// A part of the run, and all events that overlap it.
  struct Window {
    Place place;
    Time begin, end;
    std::vector<ooc::TraceEvent> events;
  };

  explicit RunRecord(std::size_t most = most_events);

  /// Any thread.
  void record(const ooc::TraceEvent& event);

  /// The run has ended: what is recorded from now on, as by a check of its result, is none of it.
  void finish();

  // After the run.

  Time duration() const noexcept { return duration_; }
  Time time_of(Clock::time_point when) const;

  /// In their order; they do not overlap. Fewer than three of a run that is short. Where events
  /// were more than there is room for, windows are shorter than they might be.
  std::vector<Window> windows() const;

  const RateBins& read() const noexcept { return read_; }
  const RateBins& written() const noexcept { return written_; }

 private:
  void keep_in_pieces(const ooc::TraceEvent& event, Time begin, Time end);
  void keep_every_other_piece();
  Window first_window() const;
  Window last_window(Time not_before) const;
  std::optional<Window> middle_window(Time not_before, Time not_after) const;
  Window window(Place place, Time begin, Time end,
                const std::vector<ooc::TraceEvent>& events) const;
  Time end_of_piece(std::size_t place) const;

  std::size_t most_;

  // Held for some forty nanoseconds, a few times a chunk.
  std::mutex mutex_;
  bool finished_ = false;
  std::optional<Clock::time_point> start_;
  Time duration_{};
  std::int64_t stride_ = 1;                           // every so many pieces one is kept
  std::vector<std::vector<ooc::TraceEvent>> pieces_;  // the events of each that is kept
  std::vector<ooc::TraceEvent> latest_;               // circular
  std::uint64_t recorded_ = 0;
  RateBins read_, written_;
};

}  // namespace ooc_run
