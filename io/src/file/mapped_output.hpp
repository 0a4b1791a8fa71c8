#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <thread>

namespace ooc {

/// A file on tmpfs that is written by copying into a mapping of it. tmpfs must find and count each
/// page, 12 GB/s at most, on one thread: that goes on in the background, ahead of the writers, and
/// whatever comes before the first write, a GPU's start for one, need not wait for it.
class MappedOutput {
 public:
  /// The file has `bytes` bytes, all of them holes, more than none; the descriptor must outlive
  /// this. Where a limit on address space forbids a mapping, it holds nothing.
  MappedOutput(int descriptor, std::uint64_t bytes);

  /// Stops allocating.
  ~MappedOutput();
  MappedOutput(const MappedOutput&) = delete;
  MappedOutput& operator=(const MappedOutput&) = delete;

  /// Whether these bytes lie in the mapping.
  bool holds(std::uint64_t offset, std::size_t bytes) const noexcept {
    return offset + bytes <= memory_.size();
  }

  /// Writes to what it holds. Returns 0 or an errno; EINVAL where the kernel has no way to do that
  /// safely (before Linux 5.14). Any thread.
  int write(std::uint64_t offset, std::span<const std::byte> data) noexcept;

  /// Waits until all that it holds is allocated. Returns 0 or an errno.
  int finish();

 private:
  void allocate(const std::stop_token& stop);

  int descriptor_;
  std::span<std::byte> memory_{};            // the whole file, or nothing
  std::atomic<std::uint64_t> allocated_{0};  // bytes from the beginning on
  std::atomic<int> errno_{0};                // set before allocated_ lets the writers go
  std::jthread allocator_;
};

}  // namespace ooc
