#pragma once

#include <ooc/detail/pool/chunk_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ooc::detail::test {

/// The first rule that was broken. Any thread may add one.
class Complaint {
 public:
  void add(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    if (text_.empty()) text_ = text;
  }
  const std::string& text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
};

/// The thread that may access a slot. A lane owns it when its chunk has been read, the writer when
/// the chunk has been computed.
enum class Owner : std::uint64_t { none, reader, lane, writer };

/// The owner of each slot of a pool, recorded by the threads that use the pool.
class SlotOwners {
 public:
  SlotOwners(const ChunkPool& pool, Complaint& complaint)
      : pool_(pool),
        slots_(pool.size()),
        left_(pool.size()),
        to_come_(pool.size()),
        complaint_(complaint) {}

  void restart() {
    for (auto& slot : slots_) slot = 0;
  }

  void hand_over(std::size_t slot, std::size_t chunk, Owner from, Owner to) {
    check(slot, chunk, from, slots_[slot].exchange(word_of(chunk, to)));
  }

  void expect(std::size_t slot, std::size_t chunk, Owner owner) {
    check(slot, chunk, owner, slots_[slot]);
  }

  std::size_t chunk_in(std::size_t slot) const { return slots_[slot] >> 2; }

  /// Returns the slot in which a lane has this chunk, or 0 if no lane has it.
  std::size_t slot_of_lane_with(std::size_t chunk) const {
    const auto found = std::find(slots_.begin(), slots_.end(), word_of(chunk, Owner::lane));
    return found == slots_.end() ? 0 : static_cast<std::size_t>(found - slots_.begin());
  }

  /// Returns the slot that contains the byte at `memory`, if any.
  std::optional<std::size_t> slot_of(const void* memory) const {
    const auto* const begin = pool_.memory().data();
    const auto* const end = begin + pool_.memory().size();
    const auto* const byte = static_cast<const std::byte*>(memory);
    if (std::less<>{}(byte, begin) || !std::less<>{}(byte, end)) return {};
    return static_cast<std::size_t>(byte - begin) / pool_.slot_bytes();
  }

  /// Sets the number of bytes that a GPU is to copy out of the slot.
  void set_bytes_to_copy(std::size_t slot, std::size_t bytes) { left_[slot] = bytes; }

  /// Sets the number of bytes that a GPU is to copy into the slot.
  void set_bytes_to_come(std::size_t slot, std::size_t bytes) { to_come_[slot] = bytes; }

  /// Records a copy of a GPU, which may be out of the pool or into it. A slot is free when all its
  /// bytes have been copied, unless it waits for results (`writes`). It is the writer's when all of
  /// these have come.
  void note_copy(const void* target, const void* source, std::size_t bytes, bool writes) {
    if (const auto slot = slot_of(source)) {
      const std::size_t chunk = chunk_in(*slot);
      expect(*slot, chunk, Owner::lane);
      const bool is_last = (left_[*slot] -= bytes) == 0;
      if (is_last && !writes) hand_over(*slot, chunk, Owner::lane, Owner::none);
    }
    if (const auto slot = slot_of(target)) {
      expect(*slot, chunk_in(*slot), Owner::lane);
      const bool is_last = (to_come_[*slot] -= bytes) == 0;
      if (is_last) hand_over(*slot, chunk_in(*slot), Owner::lane, Owner::writer);
    }
  }

 private:
  static std::uint64_t word_of(std::size_t chunk, Owner owner) {
    return owner == Owner::none ? 0 : chunk << 2 | static_cast<std::uint64_t>(owner);
  }

  void check(std::size_t slot, std::size_t chunk, Owner wanted, std::uint64_t found) {
    if (found == word_of(chunk, wanted)) return;
    const char* const names[] = {"no owner", "reader", "lane", "writer"};
    complaint_.add("slot " + std::to_string(slot) + " must have chunk " + std::to_string(chunk) +
                   " and " + names[static_cast<std::size_t>(wanted)] + ", but has chunk " +
                   std::to_string(found >> 2) + " and " + names[found & 3]);
  }

  const ChunkPool& pool_;
  std::vector<std::atomic<std::uint64_t>> slots_;
  std::vector<std::atomic<std::size_t>> left_;     // bytes of each slot that are to be copied out
  std::vector<std::atomic<std::size_t>> to_come_;  // and into it
  Complaint& complaint_;
};

}  // namespace ooc::detail::test
