#pragma once

#include <ooc/detail/pool/chunk_pool.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace ooc::detail::test {

/// The places of a pass at which something can go wrong.
enum class Place {
  begin,  // calls of the operator
  process,
  processed,
  end,
  read_begun,  // calls of observers
  read_completed,
  write_begun,
  write_completed,
  event,
  report,
  read_start,  // calls of engines
  read_wait,
  read_answer,
  write_start,
  write_wait,
  write_answer,
  device,  // any of its calls
};

constexpr std::size_t places = static_cast<std::size_t>(Place::device) + 1;

/// A failure, or a request to stop, when a pass reaches a place for the `nth` time (from 0).
struct Trouble {
  Place place;
  std::size_t nth;
  bool stops;
};

/// Causes the troubles of a pass, the threads of which call come_to() at each place.
class Troubles {
 public:
  /// Thrown by come_to(). `trouble`: the index of the trouble.
  struct Failure {
    std::size_t trouble;
  };

  /// `pool`: a pass that fails aborts it.
  Troubles(std::vector<Trouble> troubles, const ChunkPool& pool)
      : troubles_(std::move(troubles)), pool_(pool), struck_(troubles_.size()) {}

  /// Begins another pass, with the same troubles or with none.
  void restart(bool has_any) {
    has_any_ = has_any;
    stop_ = {};
    failure_.reset();
    for (auto& calls : calls_) calls = 0;
    for (Struck& struck : struck_) struck.has = false;
  }

  /// Counts that a thread has reached `place`. Throws Failure.
  void come_to(Place place) {
    const std::size_t call = calls_[static_cast<std::size_t>(place)]++;
    if (!has_any_) return;
    for (std::size_t i = 0; i < troubles_.size(); ++i) {
      const Trouble& trouble = troubles_[i];
      if (trouble.place != place || trouble.nth != call) continue;
      if (trouble.stops) {
        stop_.request_stop();
        continue;
      }
      struck_[i].is_echo = pool_.is_aborted();
      struck_[i].has = true;
      throw Failure{i};
    }
  }

  std::stop_token stop() const { return stop_.get_token(); }
  bool was_stopped() const { return stop_.stop_requested(); }

  bool have_struck() const { return std::ranges::any_of(struck_, &Struck::has); }
  bool have_struck_at(Place place) const {
    for (std::size_t i = 0; i < troubles_.size(); ++i) {
      if (struck_[i].has && troubles_[i].place == place) return true;
    }
    return false;
  }

  /// Records the failure that the pass threw.
  void ended_with(const Failure& failure) { failure_ = failure.trouble; }
  bool ended_it() const { return failure_.has_value(); }

  /// True if the failure that the pass threw came after another one had aborted the pool.
  bool ended_it_with_an_echo() const { return failure_ && struck_[*failure_].is_echo; }

 private:
  struct Struck {
    std::atomic<bool> has{false}, is_echo{false};
  };

  const std::vector<Trouble> troubles_;
  const ChunkPool& pool_;
  bool has_any_ = true;
  std::stop_source stop_;
  std::array<std::atomic<std::size_t>, places> calls_{};
  std::vector<Struck> struck_;
  std::optional<std::size_t> failure_;
};

}  // namespace ooc::detail::test
