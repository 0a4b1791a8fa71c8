#include "engine/engines.hpp"
#include "http/curl.hpp"
#include "http/range_request.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace ooc::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// A request that has ended, with the error if it has failed.
struct Ended {
  Request* request;
  std::exception_ptr error{};
};

/// The results that the threads of an engine pass to its owner. Adding one allocates nothing.
class Results {
 public:
  explicit Results(std::size_t depth) { ended_.reserve(depth); }

  void add(Ended ended) {
    {
      const std::lock_guard lock(mutex_);
      if (ended.error) has_failed_ = true;
      ended_.push_back(std::move(ended));
    }
    changed_.notify_one();
  }

  Ended take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ended_.empty(); });
    Ended first = std::move(ended_.front());
    ended_.erase(ended_.begin());
    return first;
  }

  bool wait_for(std::chrono::microseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return !ended_.empty(); });
  }

  /// True after a failure. It ends the pass that uses the engine, so the other requests need no
  /// further tries.
  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return has_failed_;
  }

  void add_repeated(const std::string& why) {
    const std::lock_guard lock(mutex_);
    ++repeated_[why];
  }

  /// "12 requests to the server were repeated: 503 Service Unavailable (11), ..."
  std::string remark() {
    const std::lock_guard lock(mutex_);
    std::size_t all = 0;
    std::string list;
    for (const auto& [why, times] : repeated_) {
      all += times;
      list += (list.empty() ? "" : ", ") + why + " (" + std::to_string(times) + ")";
    }
    if (all == 0) return {};
    return std::to_string(all) +
           (all == 1 ? " request to the server was repeated: "
                     : " requests to the server were repeated: ") +
           list;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Ended> ended_;
  std::map<std::string, std::size_t> repeated_;
  bool has_failed_ = false;
};

/// A thread with its own connections. Requests for local files are read on the same
/// thread.
class Connections {
 public:
  Connections(Results& results, const EngineOptions& options)
      : curl_(curl()), results_(results), abandon_(options.abandon), multi_(curl_.multi_init()) {
    const std::size_t depth = options.depth;
    if (multi_ == nullptr) throw std::bad_alloc();
    try {
      active_.reserve(depth);
      idle_.reserve(depth);
      new_.reserve(depth);
      taken_.reserve(depth);
      thread_ = start_thread([this](const std::stop_token& stop) { run(stop); });
    } catch (...) {
      curl_.multi_cleanup(multi_);
      throw;
    }
  }

  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  ~Connections() {
    thread_.request_stop();
    wake();
    thread_.join();
    active_.clear();
    idle_.clear();
    curl_.multi_cleanup(multi_);
  }

  void start(Request& request) {
    {
      const std::lock_guard lock(mutex_);
      if (why_dead_) return results_.add({&request, why_dead_});
      new_.push_back(&request);
    }
    wake();
  }

  void wake() { curl_.multi_wakeup(multi_); }

 private:
  /// A request in progress.
  struct Active {
    Request* request;
    std::unique_ptr<RangeRequest> range;
    std::optional<Clock::time_point> begins{};  // start of its next try; empty while a try runs
  };

  void run(const std::stop_token& stop) {
    try {
      while (!stop.stop_requested()) serve();
      for (Active& active : active_) curl_.multi_remove_handle(multi_, active.range->handle());
    } catch (...) {
      die(std::current_exception());
    }
  }

  void serve() {
    take_new();
    if (results_.has_failed() || abandon_.stop_requested()) give_up();
    begin_tries();
    int running = 0;
    check(curl_.multi_perform(multi_, &running));
    end_tries();
    check(curl_.multi_poll(multi_, nullptr, 0, patience(), nullptr));
  }

  /// Reports the error of this thread for all its requests, present and future.
  void die(const std::exception_ptr& error) {
    for (Active& active : active_) {
      curl_.multi_remove_handle(multi_, active.range->handle());
      if (active.request != nullptr) results_.add({active.request, error});
    }
    active_.clear();
    const std::lock_guard lock(mutex_);
    why_dead_ = error;
    for (Request* const request : new_) results_.add({request, error});
    new_.clear();
  }

  void take_new() {
    {
      const std::lock_guard lock(mutex_);
      taken_.swap(new_);
    }
    for (Request* const request : taken_) begin(*request);
    taken_.clear();
  }

  /// Starts the request, or adds it to the results.
  void begin(Request& request) {
    request.done = request.retries = 0;
    const std::span memory(request.memory, request.needed);
    Ended ended{&request};
    try {
      if (request.source == nullptr) throw Error(ErrorKind::internal, "http does not write");
      if (request.source->remote() != nullptr) {
        if (idle_.empty()) idle_.push_back(std::make_unique<RangeRequest>());
        idle_.back()->begin(*request.source->remote(), request.offset, memory);
        active_.push_back({&request, std::move(idle_.back()), Clock::now()});
        idle_.pop_back();
        return;
      }
      read_exactly(*request.source, request.offset, memory);
      request.done = request.needed;
    } catch (...) {
      ended.error = std::current_exception();
    }
    results_.add(std::move(ended));
  }

  void begin_tries() {
    const Clock::time_point now = Clock::now();
    for (Active& active : active_) {
      if (!active.begins || *active.begins > now) continue;
      active.begins.reset();
      check(curl_.multi_add_handle(multi_, active.range->handle()));
    }
  }

  void end_tries() {
    int left = 0;
    while (const CURLMsg* const message = curl_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      CURL* const handle = message->easy_handle;
      check(curl_.multi_remove_handle(multi_, handle));
      const auto found = std::ranges::find_if(
          active_, [&](const Active& active) { return active.range->handle() == handle; });
      assert(found != active_.end());
      end_try(*found, code);
      if (found->request == nullptr) {
        idle_.push_back(std::move(found->range));
        active_.erase(found);
      }
    }
  }

  /// Schedules the next try, or adds the request to the results and sets it to null.
  void end_try(Active& active, CURLcode code) {
    Ended ended{active.request};
    try {
      if (const auto pause = active.range->end_try(code)) {
        ++active.request->retries;
        results_.add_repeated(active.range->why_repeated());
        active.begins = Clock::now() + *pause;
        return;
      }
      active.request->done = active.request->needed;
    } catch (...) {
      ended.error = std::current_exception();
    }
    active.request = nullptr;
    results_.add(std::move(ended));
  }

  void give_up() {
    for (Active& active : active_) {
      if (!active.begins) curl_.multi_remove_handle(multi_, active.range->handle());
      Request* const request = std::exchange(active.request, nullptr);
      results_.add({request, not_read(*request)});
    }
    active_.clear();
  }

  std::exception_ptr not_read(const Request& request) const {
    const std::filesystem::path& path = request.source->path();
    Error error(ErrorKind::input, path.string() + ": not read, since another request has failed");
    if (abandon_.stop_requested()) error = {ErrorKind::interrupted, "interrupted", {.path = path}};
    return std::make_exception_ptr(std::move(error));
  }

  /// Returns the time until the next try (milliseconds).
  int patience() const {
    constexpr int longest = 1000;
    auto next = Clock::now() + std::chrono::milliseconds(longest);
    for (const Active& active : active_) {
      if (active.begins) next = std::min(next, *active.begins);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return std::max(static_cast<int>(left.count()), 0);
  }

  void check(CURLMcode code) const {
    if (code == CURLM_OK) return;
    throw Error(code == CURLM_OUT_OF_MEMORY ? ErrorKind::memory : ErrorKind::internal,
                std::string("libcurl failed: ") + curl_.multi_strerror(code));
  }

  const Curl& curl_;
  Results& results_;
  std::stop_token abandon_;
  CURLM* multi_;
  std::vector<Active> active_;                       // used by its thread
  std::vector<std::unique_ptr<RangeRequest>> idle_;  // their connections are kept
  std::mutex mutex_;
  std::vector<Request*> new_, taken_;
  std::exception_ptr why_dead_{};  // if the thread has ended for lack of memory
  std::jthread thread_;
};

class HttpEngine final : public Engine {
 public:
  explicit HttpEngine(const EngineOptions& options)
      : depth_(options.depth), results_(options.depth) {
    const std::size_t threads = std::clamp<std::size_t>(options.threads, 1, depth_);
    connections_.reserve(threads);
    try {
      while (connections_.size() < threads) {
        connections_.push_back(std::make_unique<Connections>(results_, options));
      }
    } catch (const std::exception&) {
      if (connections_.empty()) throw;  // fewer threads can do all of the work
    }
    abandoned_.emplace(options.abandon, [this] { wake_all(); });
  }

  void start(Request& request) override {
    assert(in_flight_ < depth_);
    ++in_flight_;
    connections_[next_]->start(request);
    next_ = (next_ + 1) % connections_.size();
  }

  Request& wait() override {
    assert(in_flight_ > 0);
    const IoWait waits(IoPeer::server);
    const Ended ended = results_.take();
    --in_flight_;
    if (ended.error) {
      wake_all();  // the others give up
      std::rethrow_exception(ended.error);
    }
    return *ended.request;
  }

  Request* wait_for(std::chrono::microseconds patience) override {
    const IoWait waits(IoPeer::server);
    return results_.wait_for(patience) ? &wait() : nullptr;
  }

  std::size_t in_flight() const noexcept override { return in_flight_; }
  std::size_t depth() const noexcept override { return depth_; }
  std::string_view name() const noexcept override { return "http"; }
  std::string remark() const override { return results_.remark(); }

 private:
  void wake_all() const {
    for (const auto& each : connections_) each->wake();
  }

  std::size_t depth_;
  std::size_t in_flight_ = 0;
  std::size_t next_ = 0;  // index of the next thread to use
  mutable Results results_;
  std::vector<std::unique_ptr<Connections>> connections_;
  std::optional<std::stop_callback<std::function<void()>>> abandoned_;  // destroyed first
};

}  // namespace

std::unique_ptr<Engine> make_http_engine(const EngineOptions& options) {
  return std::make_unique<HttpEngine>(options);
}

}  // namespace ooc::detail
