#include "engines.hpp"

#include <ooc/io/error.hpp>
#include <ooc/io/file.hpp>
#include <ooc/io/output_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ooc {
namespace {

/// A queue with room for `capacity` items, allocated at once.
template <class Item>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : items_(capacity) {}

  bool empty() const noexcept { return size_ == 0; }
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

/// One try: bytes, or an errno, negated.
int transfer(const Request& request) {
  std::byte* const memory = request.memory + request.done;
  const std::size_t bytes = std::min(request.bytes - request.done, most_bytes_of_a_try);
  const std::uint64_t offset = request.offset + request.done;
  if (request.target != nullptr) {
    return static_cast<int>(request.target->try_write(offset, {memory, bytes}, request.direct));
  }
  const ssize_t got = ::pread(descriptor_of(request), memory, bytes, static_cast<off_t>(offset));
  return got < 0 ? -errno : static_cast<int>(got);
}

/// Threads that call pread() and pwrite(), one try at a time.
class ThreadEngine final : public TryingEngine {
 public:
  ThreadEngine(const EngineOptions& options, const std::string& note);
  ~ThreadEngine() override;

  std::string_view name() const noexcept override { return "threads"; }

 private:
  void begin_try(Request& request) override;
  Outcome next_outcome() override;
  void start_threads(std::size_t count);
  void work();

  std::mutex mutex_;
  std::condition_variable work_came_, outcome_came_;
  BoundedQueue<Request*> waiting_;
  BoundedQueue<Outcome> outcomes_;
  bool ending_ = false;
  std::vector<std::jthread> threads_;  // last: they use what stands above
};

ThreadEngine::ThreadEngine(const EngineOptions& options, const std::string& note)
    : TryingEngine(options.depth), waiting_(options.depth), outcomes_(options.depth) {
  add_note(note);
  start_threads(std::clamp<std::size_t>(options.threads, 1, options.depth));
}

void ThreadEngine::start_threads(std::size_t count) {
  threads_.reserve(count);
  try {
    while (threads_.size() < count) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    if (threads_.empty()) {
      throw Error::from_errno(Cause::memory, "starting a thread", error.code().value(), {}, {},
                              "raise the limit on processes (ulimit -u)");
    }
    add_note("only " + std::to_string(threads_.size()) + " of " + std::to_string(count) +
             " reading threads could be started");
  }
}

/// What no thread has taken up is dropped; what one has is finished, since it uses memory
/// that the caller may free next.
ThreadEngine::~ThreadEngine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  work_came_.notify_all();
}

void ThreadEngine::begin_try(Request& request) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push(&request);
  }
  work_came_.notify_one();
}

TryingEngine::Outcome ThreadEngine::next_outcome() {
  std::unique_lock lock(mutex_);
  outcome_came_.wait(lock, [this] { return !outcomes_.empty(); });
  return outcomes_.pop();
}

void ThreadEngine::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_came_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    Request& request = *waiting_.pop();
    lock.unlock();
    const int result = transfer(request);
    lock.lock();
    outcomes_.push({&request, result});
    outcome_came_.notify_one();
  }
}

}  // namespace

std::unique_ptr<Engine> make_thread_engine(const EngineOptions& options, const std::string& note) {
  return std::make_unique<ThreadEngine>(options, note);
}

}  // namespace ooc
