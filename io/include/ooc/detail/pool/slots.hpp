#pragma once

#include <ooc/memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ooc::detail {

/// Memory without order: slots of equal size, which threads acquire and release. The lowest free
/// slot is acquired first, so that data goes through as little memory as possible. A limit bounds
/// which slots can be acquired, and may change at any time. A slot above a lowered limit is retired
/// when it is released. Allocates in the constructor only.
class Slots {
 public:
  /// `slot_bytes` is rounded up to whole pages. Slots begin on pages if `memory` gives such memory.
  Slots(MemoryResource& memory, std::size_t slots, std::size_t slot_bytes);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  std::size_t size() const noexcept { return size_; }
  std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  std::span<std::byte> memory() const noexcept { return memory_; }
  std::span<std::byte> memory(std::size_t slot) const noexcept {
    return memory_.subspan(slot * slot_bytes_, slot_bytes_);
  }

  /// Makes all slots free. No thread may use or wait for one.
  void restart(std::size_t limit) noexcept;

  /// Allows only the first `slots` slots to be acquired from now on. Any thread.
  void set_limit(std::size_t slots) noexcept;

  /// Returns the lowest free slot below the limit, if any. Any thread.
  std::optional<std::size_t> try_acquire() noexcept;

  /// Makes a slot free. Any thread.
  void release(std::size_t slot) noexcept;

  /// Number of changes of the slots or the limit. A thread that waits for a slot reads it, tries to
  /// acquire a slot, and calls wait() with it, which blocks while the number is unchanged.
  std::uint32_t changes() const noexcept { return changes_; }
  void wait(std::uint32_t seen) const noexcept { changes_.wait(seen); }

  /// Wakes the waiting threads.
  void wake() noexcept;

 private:
  static constexpr std::size_t word_bits = 64;

  std::uint64_t usable(std::size_t word) const noexcept;

  MemoryResource& resource_;
  std::size_t size_, slot_bytes_;
  std::span<std::byte> memory_;
  std::vector<std::atomic<std::uint64_t>> free_;  // one bit for each slot, set if it is free
  std::atomic<std::size_t> limit_;
  std::atomic<std::uint32_t> changes_{0};
};

}  // namespace ooc::detail
