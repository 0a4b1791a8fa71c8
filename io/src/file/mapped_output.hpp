#pragma once

#include <ooc/detail/file/output_file.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <thread>

namespace ooc::detail {

/// A file on tmpfs that is written by copying into a mapping of it. tmpfs allocates and counts
/// pages at 12 GB/s at most, on one thread. A background thread does this ahead of the writers, so
/// that work before the first write (for example the start of a GPU) does not wait for it. In a
/// file that is appended to, grow() does it instead; of one that is joined, another process.
class MappedOutput {
 public:
  /// The file must have `bytes` bytes, `bytes` > 0; holes among them are allocated. The descriptor
  /// must outlive this object. If a limit on address space prevents the mapping, holds() is always
  /// false.
  MappedOutput(int descriptor, std::uint64_t bytes, Purpose purpose);

  /// Stops the background allocation and unmaps the file.
  ~MappedOutput();
  MappedOutput(const MappedOutput&) = delete;
  MappedOutput& operator=(const MappedOutput&) = delete;

  /// True if the bytes are in the mapping.
  bool holds(std::uint64_t offset, std::size_t bytes) const noexcept {
    return offset + bytes <= memory_.size();
  }

  /// Writes bytes for which holds() is true; waits until they are allocated. Returns 0 or an errno:
  /// EINVAL if the kernel cannot populate pages safely (before Linux 5.14). Thread-safe.
  int write(std::uint64_t offset, std::span<const std::byte> data) noexcept;

  /// Allocates the first `bytes` bytes and some more. Returns 0 or an errno.
  int grow(std::uint64_t bytes);

  /// Waits until the background allocation has ended. Returns 0 or an errno.
  int finish();

 private:
  void allocate(const std::stop_token& stop);

  int descriptor_;
  std::span<std::byte> memory_{};            // the whole file, or empty
  std::atomic<std::uint64_t> allocated_{0};  // bytes from the start of the file
  std::atomic<int> errno_{0};                // set before allocated_ releases the writers
  std::jthread allocator_;
};

}  // namespace ooc::detail
