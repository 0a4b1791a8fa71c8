#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

namespace ooc {

/// Finds out, while a transfer runs, how many requests to keep in flight.
///
/// How many a disk wants cannot be known beforehand: one behind a network, or a striped array,
/// leaves most of its rate unused with a dozen; a single disk becomes slower with too many. So the
/// tuner tries twice and half as many as the best number known. A disk's rate changes by more from
/// second to second than by what is to be found out, therefore the transfer changes to and fro
/// between the two numbers, and the windows of time in which it works with one and the other are
/// compared pair by pair. A number is taken over if it is faster by several times the error of that
/// comparison, and a pair that shows a loss ends the attempt. So a disk that was served well from
/// the beginning loses next to nothing: queue_tuner_test.cpp holds it to 3 % even where rates waver
/// by half, and where nothing is to be gained a change does no harm.
///
/// Knows neither clock nor disk: it is told what happens, by one thread.
class QueueTuner {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins with `first` requests of `request_bytes`, and keeps between `least` and `most`.
  QueueTuner(std::size_t first, std::size_t least, std::size_t most, std::size_t request_bytes);

  /// How many requests are to be in flight. When that changes, the transfer follows when it can.
  std::size_t wanted() const noexcept { return trying_ ? tried_ : best_; }

  /// The transfer works with what is wanted from now on.
  void follow(Clock::time_point now);

  /// `bytes` more are through.
  void complete(std::size_t bytes, Clock::time_point now);

  /// The best number known.
  std::size_t best() const noexcept { return best_; }

 private:
  enum class State { resting, changing, leading, measuring };

  void begin_window(Clock::time_point now);
  void end_window(Clock::time_point now);
  void start_comparison(Clock::time_point now);
  void end_comparison(bool better, Clock::time_point now);

  std::size_t least_, most_, request_bytes_;
  std::size_t best_;

  State state_ = State::changing;
  Clock::time_point began_{};        // the transfer
  Clock::time_point rests_until_{};  // then there is another comparison
  bool upward_ = true;               // whose number is larger than the best
  bool other_way_failed_ = false;

  Clock::time_point comparison_began_{};
  std::size_t tried_ = 0;
  bool trying_ = false;           // `tried_` is wanted, not `best_`
  std::array<double, 2> rates_;   // of the pair's windows: best_, tried_ (bytes a second)
  std::size_t windows_ = 0;       // that have been measured
  std::vector<double> ratios_{};  // tried to best, a logarithm for each pair

  std::size_t lead_bytes_ = 0;  // of requests begun before the window
  std::size_t bytes_ = 0;       // of the window
  Clock::time_point window_began_{};
};

}  // namespace ooc
