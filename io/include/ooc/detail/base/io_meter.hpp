#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace ooc::detail {

/// The other side of an operation: a disk or file system, a web server, or the process that writes
/// into a pipe.
enum class IoPeer : std::uint8_t { disk, server, writer };

/// Measures how long this process has waited without progress: no operation was completed, and less
/// than 1 KiB arrived. Every call that may hang is counted, from the opening of the first file to
/// the commit of the output. The process has one meter: a thread that hangs in such a call cannot
/// report it, so another thread calls stall(). Thread-safe.
class IoMeter {
 public:
  /// A wait without progress. `in_flight`: incomplete operations of the peer that most threads wait
  /// for. `bytes`: bytes that arrived during the wait.
  struct Stall {
    double seconds = 0;
    IoPeer peer = IoPeer::disk;
    std::size_t in_flight = 0;
    std::uint64_t bytes = 0;
  };

  /// Fewer bytes than this do not count as progress.
  static constexpr std::uint64_t least_bytes = 1024;

  static IoMeter& of_process() noexcept;

  void begin_operation(IoPeer peer) noexcept { ++in_flight_[index(peer)]; }
  void end_operation(IoPeer peer) noexcept {
    --in_flight_[index(peer)];
    ++completed_;
  }
  void begin_wait(IoPeer peer) noexcept { ++waiting_[index(peer)]; }
  void end_wait(IoPeer peer) noexcept { --waiting_[index(peer)]; }
  void add(std::uint64_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  /// Returns the current wait. Must be called regularly: the time between two calls counts if a
  /// thread waits at both of them.
  Stall stall();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t peers = 3;
  static constexpr std::size_t index(IoPeer peer) { return static_cast<std::size_t>(peer); }

  std::array<std::atomic<std::size_t>, peers> in_flight_{}, waiting_{};
  std::atomic<std::uint64_t> completed_{0}, bytes_{0};

  std::mutex mutex_;  // guards the members below
  Clock::time_point last_ = Clock::now();
  std::uint64_t completed_before_ = 0, bytes_before_ = 0;
  double seconds_ = 0;
  bool waited_ = false;
};

/// The lifetime of an operation that counts as progress when it ends.
class IoOperation {
 public:
  explicit IoOperation(IoPeer peer) noexcept : peer_(peer) {
    IoMeter::of_process().begin_operation(peer_);
  }
  ~IoOperation() { IoMeter::of_process().end_operation(peer_); }
  IoOperation(const IoOperation&) = delete;
  IoOperation& operator=(const IoOperation&) = delete;

 private:
  IoPeer peer_;
};

/// The time for which a thread waits for a peer.
class IoWait {
 public:
  explicit IoWait(IoPeer peer) noexcept : peer_(peer) { IoMeter::of_process().begin_wait(peer_); }
  ~IoWait() { IoMeter::of_process().end_wait(peer_); }
  IoWait(const IoWait&) = delete;
  IoWait& operator=(const IoWait&) = delete;

 private:
  IoPeer peer_;
};

/// The lifetime of one or several system calls that may wait for a disk.
struct DiskCall {
  IoOperation operation{IoPeer::disk};
  IoWait wait{IoPeer::disk};
};

}  // namespace ooc::detail
