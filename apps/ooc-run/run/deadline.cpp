#include "run/deadline.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ooc/detail/base/threads.hpp>
#include <utility>

namespace ooc_run {

Deadline::Deadline(double seconds, std::function<void()> miss)
    : thread_(ooc::detail::start_thread(
          [seconds, miss = std::move(miss)](const std::stop_token& in_time) {
            std::mutex mutex;
            std::condition_variable_any stopped;
            std::unique_lock lock(mutex);
            // Counts ticks: if this process was stopped, that time counts as one tick only.
            constexpr std::chrono::duration<double> tick(0.1);
            for (auto waited = tick; waited.count() < seconds; waited += tick) {
              stopped.wait_for(lock, in_time, tick, [] { return false; });
              if (in_time.stop_requested()) return;
            }
            miss();
          })) {}

}  // namespace ooc_run
