#include "distinct/table.hpp"

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

namespace ooc::detail::distincts {

namespace {

/// Returns the first slot for a hash: slots are in the order of hashes. The first bits of the hash
/// are those of its section.
std::size_t slot_of(std::uint64_t hash, std::size_t capacity) {
  __extension__ using Product = unsigned __int128;
  return static_cast<std::size_t>(Product{hash << Table::section_bits} * capacity >> 64);
}

bool is_crowded(std::size_t used, std::size_t capacity) {
  return 10 * used >= 7 * capacity;
}

}  // namespace

MemoryResource& SlotMemory::of(std::size_t bytes) {
  constexpr std::size_t huge_page = 2 * MiB;
  if (bytes >= huge_page) return huge_pages_;
  return heap_memory();
}

void* SlotMemory::allocate(std::size_t bytes, std::size_t alignment) {
  MemoryResource& memory = of(bytes);
  void* const data = memory.allocate(bytes, alignment);
  if (&memory != &huge_pages_) std::memset(data, 0, bytes);  // those are zeroed
  return data;
}

void SlotMemory::deallocate(void* data, std::size_t bytes, std::size_t alignment) {
  of(bytes).deallocate(data, bytes, alignment);
}

Table::Table(std::size_t most_bytes, bool has_counts) : slot_shift_(has_counts ? 1 : 0) {
  memory_.set_limit(most_bytes);
}

void Table::add(std::span<const Entry> entries) {
  constexpr std::size_t most_at_once = 128;
  std::array<std::uint64_t, most_at_once> hashes;
  while (!entries.empty()) {
    const std::size_t count = std::min(entries.size(), most_at_once);
    for (std::size_t i = 0; i < count; ++i) hashes[i] = hash_of(entries[i].bits);
    for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
      const std::size_t section = section_of(hashes[begin]);
      while (end < count && section_of(hashes[end]) == section) ++end;
      try {
        add_to(sections_[section], entries.subspan(begin, end - begin),
               std::span(hashes).subspan(begin, end - begin));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::memory) throw;
        give_up();
      } catch (const std::bad_alloc&) {
        give_up();
      }
    }
    entries = entries.subspan(count);
  }
}

void Table::reserve(std::uint64_t values) {
  const double each = static_cast<double>(values) / sections;
  const auto most = static_cast<std::size_t>(each + 6 * std::sqrt(each));
  if (static_cast<double>(values) / 0.7 * static_cast<double>(slot_bytes()) >
      static_cast<double>(memory_.bytes_left())) {
    return;
  }
  try {
    for (Section& section : sections_) {
      const std::scoped_lock lock(section.mutex);
      const std::size_t capacity = (section.used + most) / 7 * 10 + 10;
      if (!is_full_ && capacity > section.capacity) grow(section, capacity);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
  } catch (const std::bad_alloc&) {
  }
}

bool Table::has_room(Section& section, std::size_t entries) const {
  const std::scoped_lock lock(section.mutex);
  return !is_crowded(section.used + entries, section.capacity);
}

void Table::add_ascending(std::span<const Entry> entries) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;  // of 2^64
  std::vector<Entry> spread;
  while (!entries.empty()) {
    const std::size_t section = section_of(hash_of(entries.front().bits));
    std::size_t count = 1;
    while (count < entries.size() && section_of(hash_of(entries[count].bits)) == section) ++count;
    if (has_room(sections_[section], count)) {
      add(entries.first(count));
      entries = entries.subspan(count);
      continue;
    }
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(count, 2));
    const std::size_t step =
        golden_ratio >> std::countl_zero(size - 1) | 1;  // odd: meets each once
    spread.clear();
    for (std::size_t i = 0, at = 0; i < size; ++i, at = (at + step) % size) {
      if (at < count) spread.push_back(entries[at]);
    }
    add(spread);
    entries = entries.subspan(count);
  }
}

void Table::add_to(Section& section, std::span<const Entry> entries,
                   std::span<const std::uint64_t> hashes) {
  const std::scoped_lock lock(section.mutex);
  if (is_full_) return;
  if (section.capacity != 0) {
    const auto* const words = section.slots.as<std::uint64_t>();
    for (const std::uint64_t hash : hashes) {
      __builtin_prefetch(words + (slot_of(hash, section.capacity) << slot_shift_), 1);
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_crowded(section.used, section.capacity)) {
      constexpr std::size_t least = 16;
      grow(section, std::max(2 * section.capacity, least));
    }
    insert(section, entries[i], hashes[i]);
  }
}

void Table::insert(Section& section, const Entry& entry, std::uint64_t hash) const {
  auto* const words = section.slots.as<std::uint64_t>();
  std::uint64_t* slot = nullptr;
  for (std::size_t at = slot_of(hash, section.capacity);;) {
    slot = words + (at << slot_shift_);
    if (*slot == entry.bits) break;
    if (*slot == 0) {
      *slot = entry.bits;
      ++section.used;
      break;
    }
    if (++at == section.capacity) at = 0;
  }
  if (has_counts()) slot[1] += entry.count;
}

void Table::grow(Section& section, std::size_t capacity) {
  Section larger;
  larger.capacity = capacity;
  larger.slots = Buffer(memory_, larger.capacity * slot_bytes());
  for_each_in(section, [&](const Entry& entry) { insert(larger, entry, hash_of(entry.bits)); });
  section.slots = std::move(larger.slots);
  section.capacity = larger.capacity;
}

void Table::give_up() {
  is_full_ = true;
  for (Section& section : sections_) {
    const std::scoped_lock lock(section.mutex);
    section.slots = Buffer();
    section.capacity = section.used = 0;
  }
}

void Table::take(Table& other) {
  if (other.is_full_) give_up();
  for (std::size_t i = 0; i < sections; ++i) {
    add_ascending(other.entries_of(i));
    Section& section = other.sections_[i];
    section.slots = Buffer();
    section.capacity = section.used = 0;
  }
}

std::uint64_t Table::size() const {
  std::uint64_t used = 0;
  for (const Section& section : sections_) used += section.used;
  return used;
}

std::vector<Entry> Table::entries_of(std::size_t section) const {
  std::vector<Entry> entries;
  entries.reserve(sections_[section].used);
  for_each_in(sections_[section], [&](const Entry& entry) { entries.push_back(entry); });
  std::ranges::sort(entries, {}, [](const Entry& entry) { return hash_of(entry.bits); });
  return entries;
}

}  // namespace ooc::detail::distincts
