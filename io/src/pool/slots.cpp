#include <ooc/detail/base/units.hpp>
#include <ooc/detail/pool/slots.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

namespace ooc::detail {

namespace {

constexpr std::uint64_t all_bits = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Slots::Slots(MemoryResource& memory, std::size_t slots, std::size_t slot_bytes)
    : resource_(memory),
      size_(slots),
      slot_bytes_(round_up(std::max<std::size_t>(slot_bytes, 1), page_bytes)),
      free_(divide_up(slots, word_bits)) {
  constexpr std::size_t most_slots = 65535;
  if (slots == 0) throw Error(ErrorKind::usage, "a chunk pool has at least one slot");
  if (slots > most_slots) throw Error(ErrorKind::usage, "a chunk pool has at most 65535 slots");
  const std::size_t bytes = slots * slot_bytes_;
  memory_ = {static_cast<std::byte*>(resource_.allocate(bytes, page_bytes)), bytes};
  restart(slots);
}

Slots::~Slots() {
  resource_.deallocate(memory_.data(), memory_.size(), page_bytes);
}

void Slots::restart(std::size_t limit) noexcept {
  assert(limit != 0 && limit <= size_);
  for (auto& word : free_) word = all_bits;  // bits beyond the last slot are beyond the limit
  limit_ = limit;
}

void Slots::set_limit(std::size_t slots) noexcept {
  assert(slots != 0 && slots <= size_);
  limit_ = slots;
  wake();
}

/// Returns the free slots of a word that are below the limit, as bits.
std::uint64_t Slots::usable(std::size_t word) const noexcept {
  const std::size_t limit = limit_;
  const std::size_t first = word * word_bits;
  if (limit <= first) return 0;
  const std::uint64_t below =
      limit - first >= word_bits ? all_bits : ~(all_bits << (limit - first));
  return free_[word] & below;
}

std::optional<std::size_t> Slots::try_acquire() noexcept {
  for (std::size_t word = 0; word < free_.size(); ++word) {
    while (const std::uint64_t bits = usable(word)) {
      const std::uint64_t lowest = bits & -bits;
      const bool was_free = (free_[word].fetch_and(~lowest) & lowest) != 0;
      if (was_free) return word * word_bits + static_cast<std::size_t>(std::countr_zero(lowest));
    }
  }
  return std::nullopt;
}

void Slots::release(std::size_t slot) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (slot % word_bits);
  assert((free_[slot / word_bits] & bit) == 0);
  free_[slot / word_bits] |= bit;
  wake();
}

void Slots::wake() noexcept {
  ++changes_;
  changes_.notify_all();
}

}  // namespace ooc::detail
