#pragma once

#include <ooc/io/chunk_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ooc::test {

/// The first rule that was broken. Any thread.
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

/// Who may touch a slot. A lane's turn begins when its chunk is read, a writer's when it is
/// computed.
enum class Owner : std::uint64_t { nobody, reader, lane, writer };

/// The owners of all slots of a pool, kept beside it by those who use them: one at a time.
class SlotOwners {
 public:
  SlotOwners(const ChunkPool& pool, Complaint& complaint)
      : pool_(pool), slots_(pool.size()), left_(pool.size()), complaint_(complaint) {}

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

  /// Of those that lanes have; the first if none of them has this chunk.
  std::size_t slot_of_lane_with(std::size_t chunk) const {
    const auto found = std::find(slots_.begin(), slots_.end(), word_of(chunk, Owner::lane));
    return found == slots_.end() ? 0 : static_cast<std::size_t>(found - slots_.begin());
  }

  /// The slot that the byte at `memory` is in, if any.
  std::optional<std::size_t> slot_of(const void* memory) const {
    const auto* const begin = pool_.memory().data();
    const auto* const end = begin + pool_.memory().size();
    const auto* const byte = static_cast<const std::byte*>(memory);
    if (std::less<>{}(byte, begin) || !std::less<>{}(byte, end)) return {};
    return static_cast<std::size_t>(byte - begin) / pool_.slot_bytes();
  }

  /// A GPU is to copy so many bytes out of the slot.
  void set_bytes_to_copy(std::size_t slot, std::size_t bytes) { left_[slot] = bytes; }

  /// A GPU has copied something, perhaps out of the pool or into it. A slot whose bytes have all
  /// been copied is free, unless it waits for results (`writes`).
  void note_copy(const void* target, const void* source, std::size_t bytes, bool writes) {
    if (const auto slot = slot_of(source)) {
      const std::size_t chunk = chunk_in(*slot);
      expect(*slot, chunk, Owner::lane);
      const bool is_last = (left_[*slot] -= bytes) == 0;
      if (is_last && !writes) hand_over(*slot, chunk, Owner::lane, Owner::nobody);
    }
    if (const auto slot = slot_of(target)) {
      hand_over(*slot, chunk_in(*slot), Owner::lane, Owner::writer);
    }
  }

 private:
  static std::uint64_t word_of(std::size_t chunk, Owner owner) {
    return owner == Owner::nobody ? 0 : chunk << 2 | static_cast<std::uint64_t>(owner);
  }

  void check(std::size_t slot, std::size_t chunk, Owner wanted, std::uint64_t found) {
    if (found == word_of(chunk, wanted)) return;
    const char* const names[] = {"nobody", "reader", "lane", "writer"};
    complaint_.add("slot " + std::to_string(slot) + " was to be with chunk " +
                   std::to_string(chunk) + " and " + names[static_cast<std::size_t>(wanted)] +
                   ", but is with chunk " + std::to_string(found >> 2) + " and " +
                   names[found & 3]);
  }

  const ChunkPool& pool_;
  std::vector<std::atomic<std::uint64_t>> slots_;
  std::vector<std::atomic<std::size_t>> left_;  // bytes of each slot that are to be copied out
  Complaint& complaint_;
};

}  // namespace ooc::test
