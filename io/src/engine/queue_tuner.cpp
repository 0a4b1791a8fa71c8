#include <ooc/detail/engine/queue_tuner.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace ooc::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto first_rest = 500ms;  // short transfers end before that
constexpr auto least_window = 20ms;
constexpr std::size_t least_rounds = 4;   // of all requests in flight, per window
constexpr int rest_after_comparison = 9;  // multiple of the comparison's duration
constexpr auto longest_rest = 60s;
constexpr std::size_t most_pairs = 16;

}  // namespace

QueueTuner::QueueTuner(std::size_t first, std::size_t least, std::size_t most,
                       std::size_t request_bytes)
    : least_(std::min(least, first)),
      most_(std::max(most, first)),
      request_bytes_(request_bytes),
      best_(first) {
  ratios_.reserve(most_pairs);
}

/// Evaluates the comparison: log ratios of the tried number's rate to the best number's. Empty if
/// more pairs are needed. Rates of shared disks vary by half from one window to the next, so few
/// pairs suffice only for distant disks, where half as many requests are nearly half as fast.
std::optional<QueueTuner::Verdict> QueueTuner::judge() const {
  constexpr double loss = 0.15, great_loss = 0.3, halving = 0.55;
  constexpr double great_gain = 0.4;
  constexpr double worthwhile = 0.03;
  constexpr double errors = 3;
  const auto n = static_cast<double>(ratios_.size());
  if (upward_ && ratios_.back() < -loss) return Verdict::no_better;
  if (!upward_ && ratios_.back() < -halving) return Verdict::starved;
  if (n < 2) return std::nullopt;
  if (std::ranges::min(ratios_) > great_gain) return Verdict::better;
  if (!upward_ && std::ranges::max(ratios_) < -great_loss) return Verdict::starved;
  const double mean = std::accumulate(ratios_.begin(), ratios_.end(), 0.0) / n;
  double squares = 0;
  for (const double ratio : ratios_) squares += (ratio - mean) * (ratio - mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  // If a disk's rate saturates, doubling the requests gains about half of what halving them loses.
  const bool is_loss = mean < -2 * worthwhile && -mean > errors * error;
  if (!upward_ && n >= 5 && is_loss) return Verdict::starved;
  if (n < 6) return std::nullopt;
  if (mean > worthwhile && mean > errors * error) return Verdict::better;
  if (mean + error < worthwhile || ratios_.size() == most_pairs) return Verdict::no_better;
  return std::nullopt;
}

void QueueTuner::follow(Clock::time_point now) {
  if (began_ == Clock::time_point{}) {
    began_ = now;
    rests_until_ = now + first_rest;
  }
  if (state_ != State::changing) return;
  if (tried_ == 0) {
    state_ = State::resting;
    return;
  }
  // The requests now in flight were started with the other number.
  lead_bytes_ = std::max(best_, tried_) * request_bytes_;
  state_ = State::leading;
}

void QueueTuner::complete(std::size_t bytes, Clock::time_point now) {
  switch (state_) {
    case State::changing: return;
    case State::resting:
      if (now >= rests_until_) start_comparison(now);
      return;
    case State::leading:
      lead_bytes_ -= std::min(lead_bytes_, bytes);
      if (lead_bytes_ == 0) begin_window(now);
      return;
    case State::measuring:
      bytes_ += bytes;
      if (now - window_began_ >= least_window &&
          bytes_ >= least_rounds * wanted() * request_bytes_) {
        end_window(now);
      }
  }
}

void QueueTuner::begin_window(Clock::time_point now) {
  state_ = State::measuring;
  bytes_ = 0;
  window_began_ = now;
}

/// The windows of two pairs are best, tried, tried, best. So a steady drift of the rate favours
/// neither number, and the transfer has to change less often.
void QueueTuner::end_window(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - window_began_).count();
  rates_[trying_ ? 1 : 0] = static_cast<double>(bytes_) / seconds;
  ++windows_;
  if (windows_ % 2 == 0) {
    ratios_.push_back(std::log(rates_[1] / rates_[0]));
    if (const std::optional<Verdict> verdict = judge()) {
      end_comparison(*verdict, now);
    } else {
      begin_window(now);
    }
    return;
  }
  trying_ = !trying_;
  state_ = State::changing;
}

void QueueTuner::start_comparison(Clock::time_point now) {
  comparison_began_ = now;
  tried_ = std::clamp(upward_ ? best_ * 2 : best_ / 2, least_, most_);
  if (tried_ == best_) {
    end_comparison(Verdict::no_better, now);
    return;
  }
  ratios_.clear();
  windows_ = 0;
  begin_window(now);
}

void QueueTuner::end_comparison(Verdict verdict, Clock::time_point now) {
  const std::size_t in_use = wanted();
  rests_until_ = now;
  if (verdict == Verdict::better) best_ = tried_;
  if (verdict == Verdict::no_better) {
    // Rest for as long as the transfer has run, up to a limit, or longer after a long comparison.
    const auto so_far = std::min<Clock::duration>(now - began_, longest_rest);
    rests_until_ +=
        std::max<Clock::duration>(so_far, rest_after_comparison * (now - comparison_began_));
  }
  // At the lower limit no comparison can show that the disk waits for requests, so try more.
  if (verdict != Verdict::better) upward_ = verdict == Verdict::starved || best_ == least_;
  trying_ = false;
  tried_ = 0;
  state_ = in_use == best_ ? State::resting : State::changing;
}

}  // namespace ooc::detail
