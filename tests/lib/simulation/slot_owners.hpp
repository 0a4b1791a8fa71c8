#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
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
  SlotOwners(std::size_t slots, Complaint& complaint) : slots_(slots), complaint_(complaint) {}

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

  std::vector<std::atomic<std::uint64_t>> slots_;
  Complaint& complaint_;
};

}  // namespace ooc::test
