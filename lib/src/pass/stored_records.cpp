#include "pass/stored_records.hpp"

#include <algorithm>

#include "sizing/dry_run_pass.hpp"
#include "sizing/layout.hpp"

namespace ooc {

void StoredRecords::decode(Stream& stream, DeviceSpan<std::byte> data) const {
  if (swapped_bytes != 0) stream.swap_bytes(data.data, data.size, swapped_bytes);
}

std::vector<StoredRecords> stored_records(std::span<const PassInput> inputs,
                                          const SequentialPlan& plan) {
  std::vector<StoredRecords> all;
  for (const auto& [source, record] : inputs) {
    const std::size_t swapped = swapped_bytes_of(source);
    all.push_back({.record = {record.bytes, std::max(record.alignment, swapped)},
                   .place = place_in_step(plan, all.size()),
                   .swapped_bytes = swapped});
  }
  return all;
}

}  // namespace ooc
