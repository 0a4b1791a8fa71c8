#pragma once

#include <ooc/detail/pool/turns.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace ooc::detail {

/// Requests a stop when a pass fails, for code that has a stop token and no meeting points.
class StopAtFailure final : public MeetingPoint {
 public:
  std::stop_token token() const noexcept { return stop_.get_token(); }
  void abort() noexcept override { stop_.request_stop(); }

 private:
  std::stop_source stop_;
};

/// The threads of a pass. The first error of any of them aborts all meeting points, so that the
/// others end too, and is kept for join().
class PassThreads {
 public:
  /// `meeting_points`: all objects that the threads wait for. They must outlive this one.
  explicit PassThreads(std::vector<MeetingPoint*> meeting_points)
      : meeting_points_(std::move(meeting_points)) {}

  /// Aborts the pass, if it has not ended, and waits for its threads.
  ~PassThreads();
  PassThreads(const PassThreads&) = delete;
  PassThreads& operator=(const PassThreads&) = delete;

  /// Starts a thread that runs `share`. Throws Error(memory) if none can be started.
  void start(std::function<void()> share);

  /// Runs a share on the calling thread. Returns false if it has thrown: the pass is aborted, and
  /// join() rethrows that error unless another one came before.
  bool run(const std::function<void()>& share) { return guard(share); }

  /// Waits until all threads have ended. Calls `report` ten times a second and once at the end, and
  /// `attend`, if there is one, 4,000 times a second. Rethrows the first error; Error(internal) if
  /// a thread has been aborted without one.
  void join(const std::function<void()>& report, const std::function<void()>& attend = {});

 private:
  bool guard(const std::function<void()>& body) noexcept;
  void keep(std::exception_ptr error) noexcept;
  void abort() noexcept;

  std::vector<MeetingPoint*> meeting_points_;
  std::mutex mutex_;
  std::exception_ptr first_;  // under the mutex
  std::atomic<bool> was_aborted_{false};
  std::atomic<std::uint32_t> ended_{0};  // number of threads
  std::vector<std::jthread> threads_;    // last: they use the members above
};

}  // namespace ooc::detail
