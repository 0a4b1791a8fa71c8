#pragma once

#include <ooc/io/engine.hpp>
#include <ooc/io/units.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace ooc {

/// The kernel transfers less than 2 GiB at a time.
inline constexpr std::size_t most_bytes_of_a_try = GiB;

/// What both engines share: they try to transfer, and this class decides what follows from how a
/// try went: the request is complete, or is tried again for the rest, or has failed.
class TryingEngine : public Engine {
 public:
  void start(Request& request) final;
  Request& wait() final;
  Request* wait_for(std::chrono::microseconds patience) final;
  std::size_t in_flight() const noexcept final { return in_flight_; }
  std::size_t depth() const noexcept final { return depth_; }
  std::string note() const final { return note_; }
  std::string remark() const final;

 protected:
  /// How a try ended: with a number of bytes, or with an errno, negated.
  struct Outcome {
    Request* request;
    int result;
  };

  explicit TryingEngine(std::size_t depth) : depth_(depth) {}

  /// Begins to transfer what is left. There are never more than depth() tries at a time.
  virtual void begin_try(Request& request) = 0;

  /// Blocks until some try has ended.
  virtual Outcome next_outcome() = 0;

  /// Blocks for no longer than that, if it can, until some try has ended: whether one has.
  virtual bool has_outcome_within(std::chrono::microseconds patience) = 0;

  /// The sentence that note() returns.
  void set_note(const std::string& sentence) { note_ = sentence; }

  /// Says in remark() that not all threads could be started.
  void note_few_threads(std::size_t started, std::size_t wanted);

 private:
  bool classify(Request& request, int result);

  std::size_t depth_;
  std::size_t in_flight_ = 0;
  std::size_t refused_direct_ = 0;
  std::string note_;
  std::string few_threads_;
};

/// The descriptor that a request reads from, or writes to, now.
int descriptor_of(const Request& request);

/// Throws Error(usage) if the kernel has no io_uring for us.
std::unique_ptr<Engine> make_uring_engine(const EngineOptions& options);

/// `note`: why it is this engine. Throws Error(memory) if no thread can be started.
std::unique_ptr<Engine> make_thread_engine(const EngineOptions& options, const std::string& note);

}  // namespace ooc
