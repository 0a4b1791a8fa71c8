#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace ooc {

/// Finds out, while a transfer runs, how many requests to keep in flight.
///
/// How many a disk wants cannot be known beforehand: one behind a network, or a striped array,
/// leaves most of its rate unused with a dozen; a single disk becomes slower with too many. So the
/// tuner tries half as many as the best number known; and twice as many only if that was a loss,
/// because a disk that does as well with half of its requests has enough of them, and more of them
/// need more memory, which fits the processor's cache less well.
///
/// A disk's rate changes by more from second to second than by what is to be found out, therefore
/// the transfer changes to and fro between the two numbers, and the windows of time in which it
/// works with one and the other are compared pair by pair. A number is taken over if it is faster
/// by several times the error of that comparison. So a disk that was served well from the beginning
/// loses next to nothing: queue_tuner_test.cpp holds it to 3 % even where rates waver by half.
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

  /// Of a number that is tried: faster; no faster; or, of a smaller number only, slower because the
  /// disk had to wait for requests.
  enum class Verdict { better, no_better, starved };

  void begin_window(Clock::time_point now);
  void end_window(Clock::time_point now);
  void start_comparison(Clock::time_point now);
  std::optional<Verdict> judge() const;
  void end_comparison(Verdict verdict, Clock::time_point now);

  std::size_t least_, most_, request_bytes_;
  std::size_t best_;

  State state_ = State::changing;
  Clock::time_point began_{};        // the transfer
  Clock::time_point rests_until_{};  // then there is another comparison
  bool upward_ = false;              // whose number is larger than the best

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
