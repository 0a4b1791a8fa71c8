#pragma once

#include <ooc/detail/device/huge_page_memory.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include "distinct/sketch.hpp"

namespace ooc::detail::distincts {

/// A value other than 0, by its bits (see bits_of()), and how often it was seen.
struct Entry {
  std::uint64_t bits = 0, count = 0;
};

/// Zeroed memory: in huge pages if it is large, since slots are read at random.
class SlotMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment) override;
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override;

 private:
  MemoryResource& of(std::size_t bytes);

  HugePageMemory huge_pages_{};
};

/// The distinct values that the lanes of a pass have found, in host memory. It has sections, each
/// for the hashes with the same first bits, with a lock and a hash table of its own: lanes rarely
/// wait for each other, and a section that grows takes little memory beside the others. Slots are
/// in the order of hashes, but for collisions. Bits of 0 are a free slot.
class Table {
 public:
  static constexpr std::uint32_t section_bits = 7;
  static constexpr std::size_t sections = std::size_t{1} << section_bits;

  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// `most_bytes`: of all slots, or no_limit. Without counts, entries have the count 0 here.
  Table(std::size_t most_bytes, bool has_counts);

  /// Adds entries, fastest if their hashes are in order. If they do not fit, the table is full, and
  /// loses all it has. Any thread.
  void add(std::span<const Entry> entries);

  /// Makes room for so many more values, if there is memory for it. Any thread.
  void reserve(std::uint64_t values);

  /// Adds entries in the order of their hashes, or nearly so, fastest after reserve(). In that
  /// order all would lie in the first slots of a section that grows, and it would take a time that
  /// is quadratic in their number. So what there is no room for is added in an order in which any
  /// number of entries is spread evenly.
  void add_ascending(std::span<const Entry> entries);

  /// Adds all entries of another table, and empties it.
  void take(Table& other);

  /// Makes the table full. Any thread.
  void give_up();

  bool is_full() const { return is_full_; }
  bool has_counts() const { return slot_shift_ != 0; }
  std::size_t most_bytes() const { return memory_.limit(); }
  std::size_t slot_bytes() const { return sizeof(std::uint64_t) << slot_shift_; }

  // The functions below must not run while other threads add.

  std::uint64_t size() const;

  /// Returns the entries of a section in the order of their hashes.
  std::vector<Entry> entries_of(std::size_t section) const;

  /// Calls see(entry) for each entry, in any order.
  template <class See>
  void for_each(const See& see) const {
    for (const Section& section : sections_) for_each_in(section, see);
  }

 private:
  struct alignas(64) Section {
    std::mutex mutex{};
    Buffer slots{};
    std::size_t capacity = 0, used = 0;
  };

  template <class See>
  void for_each_in(const Section& section, const See& see) const {
    const auto* const words = section.slots.as<std::uint64_t>();
    for (std::size_t i = 0; i < section.capacity; ++i) {
      const auto* const slot = words + (i << slot_shift_);
      if (*slot != 0) see(Entry{*slot, has_counts() ? slot[1] : 0});
    }
  }

  void add_to(Section& section, std::span<const Entry> entries,
              std::span<const std::uint64_t> hashes);
  void insert(Section& section, const Entry& entry, std::uint64_t hash) const;
  void grow(Section& section, std::size_t capacity);
  bool has_room(Section& section, std::size_t entries) const;

  SlotMemory slot_memory_{};
  MeteredMemory memory_{slot_memory_, "memory"};
  std::uint32_t slot_shift_;  // a slot is 2^this words: the bits, and perhaps a count
  std::atomic<bool> is_full_{false};
  std::array<Section, sections> sections_{};
};

/// Returns the section of a hash.
constexpr std::size_t section_of(std::uint64_t hash) {
  return hash >> (64 - Table::section_bits);
}

/// Returns the memory that so many values take, while sections grow (bytes).
constexpr double table_bytes_for(double values, bool has_counts) {
  // Slots for a value: 2 / 0.7 after growing, and those that a section has moved from meanwhile.
  // Small sections have more.
  return values * 3.2 * (has_counts ? 16 : 8) + Table::sections * 1024;
}

}  // namespace ooc::detail::distincts
