#pragma once

#include <ooc/detail/base/language.hpp>
#include <ooc/source.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace ooc::detail {

class File;
class OutputFile;

/// One transfer of `bytes` bytes between `offset` of a file and `memory`: a read from `source` or,
/// if that is null, a write to `target`. A direct read is of whole blocks and may extend past the
/// end of the file; `needed` is the number of bytes that must arrive. An engine may finish a direct
/// request through the page cache; it then sets `direct` to false.
struct Request {
  const File* source = nullptr;  ///< the file of a read
  OutputFile* target = nullptr;  ///< the file of a write
  bool direct = false;           ///< bypasses the page cache
  std::byte* memory = nullptr;   ///< page-aligned if `direct`
  std::uint64_t offset = 0;      ///< in the file (bytes)
  std::size_t bytes = 0;         ///< to be transferred
  std::size_t needed = 0;        ///< of these, before the end of the file
  std::size_t chunk = 0;         ///< index of the chunk; unused by the engine
  std::size_t done = 0;          ///< bytes transferred; set by the engine
  std::size_t retries = 0;       ///< after interruptions and passing errors; set by the engine
};

/// Performs reads and writes asynchronously. Used by one thread. Short transfers and interruptions
/// are resumed internally. The destructor waits for the requests in flight, because the kernel may
/// use their memory until they are complete.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Starts a request. The request must stay at its address until wait() or wait_for() returns it.
  /// Requires in_flight() < depth().
  virtual void start(Request& request) = 0;

  /// Blocks until a request is complete and returns it. Throws Error: `input` or `output` with
  /// file, offset and errno, or `input_changed` if the file ended before the bytes that were
  /// needed; the failed request is then no longer in flight. If in_flight() is unchanged after an
  /// error, the engine itself has failed and completes no more requests.
  virtual Request& wait() = 0;

  /// As wait(), but returns null if no request is complete after `patience`. An implementation may
  /// block for longer.
  virtual Request* wait_for(std::chrono::microseconds /*patience*/) { return &wait(); }

  /// Returns the number of requests that were started and not returned yet.
  virtual std::size_t in_flight() const noexcept = 0;
  /// Returns the most requests that may be in flight.
  virtual std::size_t depth() const noexcept = 0;

  /// Returns "uring", "threads" or "http".
  virtual std::string_view name() const noexcept = 0;

  /// Says how the engine differs from the preferred configuration; may be empty.
  virtual std::string note() const { return {}; }

  /// Describes problems so far: fewer threads than wanted, direct requests that were refused. May
  /// be empty.
  virtual std::string remark() const { return {}; }
};

/// Options of make_engine().
struct EngineOptions {
  bool writes = false;                      ///< expected use; engines can do both
  EngineKind kind = EngineKind::automatic;  ///< the implementation
  std::size_t depth = 8;                    ///< maximum number of requests in flight
  /// Number of threads. 0, for the engine `threads` only: wait() transfers on the caller's thread.
  std::size_t threads = 1;
  /// Memory that most requests use. Registered with io_uring where that is permitted.
  std::span<std::byte> storage{};
  std::size_t storage_piece = 0;  ///< size of a registered buffer (bytes); 0: all of `storage`
  /// The engine `http` only: requests that are not complete fail with Error(interrupted) then.
  std::stop_token abandon{};
};

/// Creates an engine. `automatic` selects io_uring, or threads with a note() that says why not.
/// Throws Error(usage) if `depth` is 0, for `uring` if the kernel refuses io_uring, or for `http`
/// if the library cannot use libcurl; Error(memory) if no thread can be started.
std::unique_ptr<Engine> make_engine(const EngineOptions& options);

}  // namespace ooc::detail
