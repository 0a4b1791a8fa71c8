#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>

namespace ooc {

/// A memory resource that counts allocated bytes and enforces a limit. Thread-safe if the upstream
/// resource is.
class OOC_API MeteredMemory final : public std::pmr::memory_resource {
 public:
  /// `what` names the memory in messages: "host memory", "device memory". `upstream` must outlive
  /// this.
  MeteredMemory(std::pmr::memory_resource& upstream, std::string what);

  /// Sets the most bytes that may be in use. Allocations that would exceed it throw Error(memory).
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }

  /// Returns the most bytes that may be in use.
  std::size_t limit() const noexcept { return limit_; }
  /// Returns the bytes that are allocated and not freed.
  std::size_t bytes_in_use() const noexcept { return in_use_; }
  /// Returns the bytes left below the limit.
  std::size_t bytes_left() const noexcept {
    const std::size_t limit = limit_, in_use = in_use_;
    return limit > in_use ? limit - in_use : 0;
  }
  /// Returns the most bytes in use at one time since restart_peak().
  std::size_t peak_bytes() const noexcept { return peak_; }
  /// Begins to look for the peak anew.
  void restart_peak() noexcept { peak_ = in_use_.load(); }
  /// Returns how often memory was allocated.
  std::uint64_t allocations() const noexcept { return allocations_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::memory_resource& upstream_;
  std::string what_;
  std::atomic<std::size_t> limit_{SIZE_MAX};
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::uint64_t> allocations_{0};
};

}  // namespace ooc
