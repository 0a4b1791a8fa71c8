#include <ooc/pass_threads.hpp>

#include <ooc/io/threads.hpp>

#include <sys/prctl.h>

#include <chrono>
#include <utility>

namespace ooc {

namespace {

constexpr std::chrono::milliseconds report_interval{100};
// Nanoseconds. Lanes sleep as long as a copy takes, 20 us; Linux would make 70 of them.
constexpr unsigned long finest_timer_slack = 1;

}  // namespace

PassThreads::~PassThreads() {
  if (!threads_.empty()) abort();
}

void PassThreads::start(std::function<void()> share) {
  threads_.reserve(threads_.size() + 1);  // before it runs
  threads_.push_back(start_thread([this, share = std::move(share)](const std::stop_token&) {
    prctl(PR_SET_TIMERSLACK, finest_timer_slack);
    guard(share);
    const std::scoped_lock lock(mutex_);
    ++ended_;
    one_ended_.notify_one();
  }));
}

void PassThreads::join(const std::function<void()>& report) {
  const auto all_ended_soon = [this] {
    std::unique_lock lock(mutex_);
    return one_ended_.wait_for(lock, report_interval, [this] { return ended_ == threads_.size(); });
  };
  while (!all_ended_soon()) guard(report);
  threads_.clear();
  ended_ = 0;
  guard(report);
  if (first_) std::rethrow_exception(first_);
}

bool PassThreads::guard(const std::function<void()>& body) noexcept {
  try {
    body();
    return true;
  } catch (const Aborted&) {
    // The echo of an error that is kept already.
  } catch (...) {
    keep(std::current_exception());
  }
  return false;
}

void PassThreads::keep(std::exception_ptr error) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (!first_) first_ = std::move(error);
  }
  abort();
}

void PassThreads::abort() noexcept {
  for (ChunkPool* pool : pools_) pool->abort();
}

}  // namespace ooc
