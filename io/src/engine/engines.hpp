#pragma once

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/engine/engine.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>

namespace ooc::detail {

/// The most bytes of one system call; the kernel's own limit is just below 2 GiB.
inline constexpr std::size_t most_bytes_of_a_try = GiB;

/// Common base of the engines. An engine performs tries. This class decides what the result of a
/// try means: the request is complete, has to be tried again for the remainder, or has failed.
class TryingEngine : public Engine {
 public:
  /// Result of a try: a number of bytes, a negated errno, or another error.
  struct Outcome {
    Request* request;
    int result;
    std::exception_ptr error{};
  };

  ~TryingEngine() override;
  void start(Request& request) final;
  Request& wait() final;
  Request* wait_for(std::chrono::microseconds patience) final;
  std::size_t in_flight() const noexcept final { return in_flight_; }
  std::size_t depth() const noexcept final { return depth_; }
  std::string note() const final { return note_; }
  std::string remark() const final;

 protected:
  explicit TryingEngine(std::size_t depth) : depth_(depth) {}

  /// Starts to transfer the remainder of a request. There are never more than depth() tries at a
  /// time.
  virtual void begin_try(Request& request) = 0;

  /// Blocks until a try has ended.
  virtual Outcome next_outcome() = 0;

  /// Blocks until a try has ended or, if the engine can, `patience` has passed. True if
  /// next_outcome() should be called.
  virtual bool has_outcome_within(std::chrono::microseconds patience) = 0;

  /// Sets the sentence that note() returns.
  void set_note(const std::string& sentence) { note_ = sentence; }

  /// Adds to remark() that not all threads could be started.
  void note_few_threads(std::size_t started, std::size_t wanted);

 private:
  bool classify(Request& request, int result);

  std::size_t depth_;
  std::size_t in_flight_ = 0;
  std::size_t refused_direct_ = 0;
  std::string note_;
  std::string few_threads_;
};

/// Returns the descriptor that a request currently uses, direct or buffered.
int descriptor_of(const Request& request);

/// Creates an engine on io_uring. Throws Error(usage) if the kernel does not provide or allow it.
std::unique_ptr<Engine> make_uring_engine(const EngineOptions& options);

/// Creates an engine that reads remote files, and local ones beside them. Throws Error(usage) if
/// libcurl cannot be used, Error(memory) if no thread can be started.
std::unique_ptr<Engine> make_http_engine(const EngineOptions& options);

/// Creates an engine of threads. `note`: why it was chosen. Throws Error(memory) if no thread can
/// be started.
std::unique_ptr<Engine> make_thread_engine(const EngineOptions& options, const std::string& note);

}  // namespace ooc::detail
