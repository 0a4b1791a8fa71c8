#include <ooc/detail/base/units.hpp>
#include <ooc/detail/pool/share.hpp>

#include <algorithm>
#include <cassert>
#include <optional>

namespace ooc::detail {

std::uint64_t LocalBlocks::begin(std::uint64_t records, std::uint64_t step_records) {
  constexpr std::uint64_t most_blocks = 1u << 20;  // their numbers take little memory
  const std::uint64_t steps = divide_up(records, step_records);
  const std::uint64_t block =
      step_records * std::max<std::uint64_t>(divide_up(steps, most_blocks), 1);
  tickets_.emplace(divide_up(records, block), stop_.get_token());
  return block;
}

// Reserves numbers for all blocks, since one device may take all. Unwritten memory costs nothing.
Share::Share(Blocks& blocks, std::uint64_t records, std::uint64_t block_records)
    : blocks_(blocks),
      records_(records),
      block_records_(block_records),
      taken_(std::make_unique_for_overwrite<std::uint64_t[]>(divide_up(records, block_records))) {}

bool Share::has(std::uint64_t record) {
  const std::uint64_t block = record / block_records_;
  if (block >= count_.load(std::memory_order_acquire)) {
    const std::scoped_lock lock(taking_);
    for (std::size_t count = count_; count <= block; count_ = ++count) {
      const std::optional<std::uint64_t> next = blocks_.draw();
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

std::vector<RecordRange> Share::taken() const {
  std::vector<RecordRange> ranges;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint64_t first = taken_[i] * block_records_;
    ranges.push_back({first, std::min(block_records_, records_ - first)});
  }
  return ranges;
}

}  // namespace ooc::detail
