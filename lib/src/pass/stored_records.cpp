#include "pass/stored_records.hpp"

#include "sizing/layout.hpp"

namespace ooc {

void StoredRecords::decode(Stream& stream, DeviceSpan<std::byte> data) const {
  if (swapped_bytes != 0) stream.swap_bytes(data.data, data.size, swapped_bytes);
}

std::vector<StoredRecords> stored_records(std::span<const PassInput> inputs,
                                          const SequentialPlan& plan) {
  std::vector<StoredRecords> all;
  for (const auto& [source, record] : inputs) {
    // A record may have several elements, but bytes are swapped within each.
    const bool is_swapped = source.type() && source.type()->swapped;
    all.push_back({.record = record,
                   .place = place_in_step(plan, all.size()),
                   .swapped_bytes = is_swapped ? size_of(source.type()->element) : 0});
  }
  return all;
}

}  // namespace ooc
