#include <ooc/detail/base/units.hpp>
#include <ooc/detail/pool/share.hpp>

#include <cassert>
#include <optional>

namespace ooc {

// One device may take all blocks. Memory that is never written costs nothing.
Share::Share(Tickets& blocks, std::uint64_t records, std::uint64_t block_records)
    : blocks_(blocks),
      records_(records),
      block_records_(block_records),
      taken_(std::make_unique_for_overwrite<std::uint64_t[]>(divide_up(records, block_records))) {}

bool Share::has(std::uint64_t record) {
  const std::uint64_t block = record / block_records_;
  if (block >= count_.load(std::memory_order_acquire)) {
    const std::scoped_lock lock(taking_);
    for (std::size_t count = count_; count <= block; count_ = ++count) {
      const std::optional<std::size_t> next = blocks_.draw();
      if (!next) return false;
      taken_[count] = *next;
    }
  }
  return place(record) < records_;  // the last block may be shorter
}

std::uint64_t Share::place(std::uint64_t record) const noexcept {
  assert(record / block_records_ < count_);
  return taken_[record / block_records_] * block_records_ + record % block_records_;
}

}  // namespace ooc
