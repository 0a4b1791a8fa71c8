#include "engine/engines.hpp"

#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ooc::detail {
namespace {

/// A FIFO queue with a fixed capacity, allocated in the constructor. Not thread-safe.
template <class Item>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : items_(capacity) {}

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  void clear() noexcept { size_ = 0; }

  void push(const Item& item) {
    assert(size_ < items_.size());
    items_[(first_ + size_++) % items_.size()] = item;
  }

  Item pop() {
    assert(size_ > 0);
    const Item item = items_[first_];
    first_ = (first_ + 1) % items_.size();
    --size_;
    return item;
  }

 private:
  std::vector<Item> items_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

/// Performs one try. Returns the number of bytes, or a negated errno. Throws Error for encoded
/// pieces.
int transfer(const Request& request) {
  std::byte* const memory = request.memory + request.done;
  const std::size_t bytes = std::min(request.bytes - request.done, most_bytes_of_a_try);
  const std::uint64_t offset = request.offset + request.done;
  if (request.target != nullptr) {
    return static_cast<int>(request.target->try_write(offset, {memory, bytes}, request.direct));
  }
  if (const EncodedArray* const array = request.source->encoded()) {
    array->read(offset, {memory, bytes});
    return static_cast<int>(bytes);
  }
  if (request.source->is_on_device()) return -EFAULT;
  if (request.source->memory() != nullptr) {
    std::memcpy(memory, request.source->memory() + offset, bytes);
    return static_cast<int>(bytes);
  }
  const ssize_t got = ::pread(descriptor_of(request), memory, bytes, static_cast<off_t>(offset));
  return got < 0 ? -errno : static_cast<int>(got);
}

TryingEngine::Outcome outcome_of(Request& request) noexcept {
  try {
    return {&request, transfer(request)};
  } catch (...) {
    return {&request, 0, std::current_exception()};
  }
}

/// An engine of threads that call pread() and pwrite(), one try at a time.
class ThreadEngine final : public TryingEngine {
 public:
  ThreadEngine(const EngineOptions& options, const std::string& note);
  ~ThreadEngine() override;

  std::string_view name() const noexcept override { return "threads"; }

 private:
  ThreadEngine(std::size_t depth, std::size_t threads_wanted);
  void begin_try(Request& request) override;
  Outcome next_outcome() override;
  bool has_outcome_within(std::chrono::microseconds patience) override;
  void start_threads(std::size_t count);
  void work();

  static constexpr std::size_t most_at_once = 32;

  std::size_t threads_wanted_;
  // There can be thousands of small requests. Each side takes as many as it can at a time, to
  // reduce contention for the lock.
  std::mutex mutex_;
  std::condition_variable work_came_, outcome_came_;
  BoundedQueue<Request*> waiting_;
  BoundedQueue<Outcome> outcomes_;
  std::size_t idle_ = 0;  // threads that wait for work
  bool ending_ = false;
  BoundedQueue<Outcome> taken_;        // used by the caller's thread only
  std::vector<std::jthread> threads_;  // last: they use the members above
};

ThreadEngine::ThreadEngine(std::size_t depth, std::size_t threads_wanted)
    : TryingEngine(depth),
      threads_wanted_(threads_wanted),
      waiting_(depth),
      outcomes_(depth),
      taken_(depth) {}

/// Delegates, so that the destructor ends the running threads if another cannot be started.
ThreadEngine::ThreadEngine(const EngineOptions& options, const std::string& note)
    : ThreadEngine(options.depth, std::clamp<std::size_t>(options.threads, 1, options.depth)) {
  set_note(note);
  start_threads(threads_wanted_);
}

void ThreadEngine::start_threads(std::size_t count) {
  detail::start_threads(threads_, count, [this] { work(); });
  if (threads_.size() == count) return;
  note_few_threads(threads_.size(), count);
}

/// Drops tries that no thread has started. Waits for the others, because they use memory that the
/// caller may free next.
ThreadEngine::~ThreadEngine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  work_came_.notify_all();
}

void ThreadEngine::begin_try(Request& request) {
  bool somebody_waits = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push(&request);
    somebody_waits = idle_ != 0;
  }
  if (somebody_waits) work_came_.notify_one();
}

TryingEngine::Outcome ThreadEngine::next_outcome() {
  if (taken_.empty()) {
    std::unique_lock lock(mutex_);
    outcome_came_.wait(lock, [this] { return !outcomes_.empty(); });
    while (!outcomes_.empty()) taken_.push(outcomes_.pop());
  }
  return taken_.pop();
}

bool ThreadEngine::has_outcome_within(std::chrono::microseconds patience) {
  if (!taken_.empty()) return true;
  std::unique_lock lock(mutex_);
  return outcome_came_.wait_for(lock, patience, [this] { return !outcomes_.empty(); });
}

void ThreadEngine::work() {
  std::array<Outcome, most_at_once> batch;
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_came_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    --idle_;
    if (ending_) return;
    // Take a fair share, to leave work for the other threads.
    const std::size_t count =
        std::clamp<std::size_t>(waiting_.size() / threads_wanted_, 1, most_at_once);
    for (std::size_t i = 0; i < count; ++i) batch[i].request = waiting_.pop();
    lock.unlock();
    for (std::size_t i = 0; i < count; ++i) batch[i] = outcome_of(*batch[i].request);
    lock.lock();
    for (std::size_t i = 0; i < count; ++i) outcomes_.push(batch[i]);
    outcome_came_.notify_one();
  }
}

/// An engine without threads: tries run on the caller's thread, in wait().
class CallerEngine final : public TryingEngine {
 public:
  CallerEngine(std::size_t depth, const std::string& note) : TryingEngine(depth), waiting_(depth) {
    set_note(note);
  }

  std::string_view name() const noexcept override { return "threads"; }

 private:
  void begin_try(Request& request) override { waiting_.push(&request); }
  Outcome next_outcome() override { return outcome_of(*waiting_.pop()); }
  bool has_outcome_within(std::chrono::microseconds /*patience*/) override { return true; }

  BoundedQueue<Request*> waiting_;
};

}  // namespace

std::unique_ptr<Engine> make_thread_engine(const EngineOptions& options, const std::string& note) {
  if (options.threads == 0) return std::make_unique<CallerEngine>(options.depth, note);
  return std::make_unique<ThreadEngine>(options, note);
}

}  // namespace ooc::detail
