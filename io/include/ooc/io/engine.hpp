#pragma once

#include <ooc/io/language.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ooc {

class File;
class OutputFile;

enum class EngineKind { automatic, uring, threads };
enum class DirectIo { automatic, yes, no };

/// One transfer of `bytes` between `offset` of a file and `memory`: a read from `source` or, if
/// that is null, a write to `target`. A direct read asks for whole blocks and may reach past the
/// end of the file; `needed` says how many of its bytes must come. An engine may finish a direct
/// request through the page cache; `direct` is false then.
struct Request {
  const File* source = nullptr;
  OutputFile* target = nullptr;
  bool direct = false;
  std::byte* memory = nullptr;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  std::size_t needed = 0;
  std::size_t chunk = 0;    // whose data this is; for the caller
  std::size_t done = 0;     // bytes that are through; kept by the engine
  std::size_t retries = 0;  // after interruptions; kept by the engine
};

/// Performs reads and writes asynchronously. Belongs to one thread. Short transfers and
/// interruptions are resumed inside; the destructor waits for what is in flight, since until then
/// the kernel may use the memory of a request.
class Engine {
 public:
  virtual ~Engine() = default;

  /// The request must stay where it is until it is returned by wait() or wait_for(). Call only if
  /// in_flight() < depth().
  virtual void start(Request& request) = 0;

  /// Blocks until some request is complete. Throws Error: `input` or `output` with file, offset and
  /// errno, or `input_changed` if the file ended before the bytes that were needed; that request is
  /// then no longer in flight. An error after which in_flight() is what it was is the engine's own:
  /// no request will be complete any more.
  virtual Request& wait() = 0;

  /// The same, but null if none is complete after that time. An engine may take longer.
  virtual Request* wait_for(std::chrono::microseconds /*patience*/) { return &wait(); }

  virtual std::size_t in_flight() const noexcept = 0;
  virtual std::size_t depth() const noexcept = 0;

  /// "uring" or "threads", and in what way it differs from what was hoped for (may be empty).
  virtual std::string_view name() const noexcept = 0;
  virtual std::string note() const { return {}; }

  /// What did not go as planned: fewer threads, or direct requests that were refused (may be
  /// empty).
  virtual std::string remark() const { return {}; }
};

struct EngineOptions {
  bool writes = false;  // what it is for; the engines themselves do either
  EngineKind kind = EngineKind::automatic;
  std::size_t depth = 8;    // most requests in flight
  std::size_t threads = 1;  // of the threads engine; 0: the caller's own performs them, in wait()
  /// Where most requests lie: registered with io_uring, if that is allowed.
  std::span<std::byte> storage{};
  std::size_t storage_piece = 0;  // bytes; `storage` is registered in pieces of this size
};

/// `automatic` is io_uring, or threads with a note() that says why not. `uring` throws
/// Error(usage) where the kernel refuses it.
std::unique_ptr<Engine> make_engine(const EngineOptions& options);

}  // namespace ooc
