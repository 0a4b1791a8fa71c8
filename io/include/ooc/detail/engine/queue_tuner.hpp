#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace ooc::detail {

/// Tunes the number of requests in flight during a transfer.
///
/// The best queue depth of a disk is not known in advance: a network disk or a striped array needs
/// many requests, a single disk becomes slower with too many. The tuner tries half of the best
/// number known. It tries twice that number only if half was slower, because a disk that is as fast
/// with half of its requests has enough of them, and more requests need more memory, which fits
/// less well in the processor's cache.
///
/// A disk's rate varies more from second to second than the effect to be measured. Therefore the
/// transfer alternates between the two numbers, and windows of time with one and the other are
/// compared in pairs. A number is adopted if it is faster by several times the standard error of
/// that comparison. So a disk whose initial number was good loses almost nothing:
/// queue_tuner_test.cpp limits the loss to 3 %, even where rates vary by half.
///
/// Uses neither clock nor disk: all events are passed in, by one thread.
class QueueTuner {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts with `first` requests of `request_bytes` bytes each, and stays between `least` and
  /// `most`.
  QueueTuner(std::size_t first, std::size_t least, std::size_t most, std::size_t request_bytes);

  /// Returns the number of requests to keep in flight. The transfer calls follow() once it has
  /// adopted a new number.
  std::size_t wanted() const noexcept { return trying_ ? tried_ : best_; }

  /// The transfer uses wanted() requests from now on.
  void follow(Clock::time_point now);

  /// Records the completion of `bytes` bytes.
  void complete(std::size_t bytes, Clock::time_point now);

  /// Returns the best number known.
  std::size_t best() const noexcept { return best_; }

 private:
  enum class State { resting, changing, leading, measuring };

  /// Result of a comparison: the tried number is faster; it is no faster; or, for a smaller number
  /// only, it is slower because the disk had to wait for requests.
  enum class Verdict { better, no_better, starved };

  void begin_window(Clock::time_point now);
  void end_window(Clock::time_point now);
  void start_comparison(Clock::time_point now);
  std::optional<Verdict> judge() const;
  void end_comparison(Verdict verdict, Clock::time_point now);

  std::size_t least_, most_, request_bytes_;
  std::size_t best_;

  State state_ = State::changing;
  Clock::time_point began_{};        // start of the transfer
  Clock::time_point rests_until_{};  // time of the next comparison
  bool upward_ = false;              // the next comparison tries a larger number

  Clock::time_point comparison_began_{};
  std::size_t tried_ = 0;
  bool trying_ = false;           // wanted() is `tried_`, not `best_`
  std::array<double, 2> rates_;   // of the two windows of a pair: best_, tried_ (bytes/s)
  std::size_t windows_ = 0;       // measured in this comparison
  std::vector<double> ratios_{};  // log(rate of tried / rate of best), one per pair

  std::size_t lead_bytes_ = 0;  // still to complete, of requests started before the window
  std::size_t bytes_ = 0;       // completed in the window
  Clock::time_point window_began_{};
};

}  // namespace ooc::detail
