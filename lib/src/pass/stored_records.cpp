#include "pass/stored_records.hpp"

#include <algorithm>

#include "sizing/dry_run_pass.hpp"
#include "sizing/layout.hpp"

namespace ooc {

void StoredRecords::swap(Stream& stream, DeviceSpan<std::byte> data) const {
  if (swapped_bytes != 0) stream.swap_bytes(data.data, data.size, swapped_bytes);
}

DeviceSpan<const std::byte> StoredRecords::decode(Stream& stream, DeviceSpan<std::byte> data,
                                                  std::byte* decoded) const {
  if (decoding.moves.empty()) return {data.data, data.size};
  const MovedRecords records{.target = decoded + decoded_place,
                             .target_bytes = decoding.bytes,
                             .source = data.data,
                             .source_bytes = record.bytes,
                             .count = data.size / record.bytes};
  stream.move_fields(records, decoding.moves);
  return {records.target, records.count * decoding.bytes};
}

std::vector<StoredRecords> stored_records(std::span<const PassInput> inputs,
                                          const SequentialPlan& plan) {
  std::vector<StoredRecords> all;
  const std::vector<std::size_t> decoded = decoded_bytes_of(inputs);
  for (const auto& [source, record, decoding, resident] : inputs) {
    const std::size_t swapped = swapped_bytes_of(source);
    all.push_back({.record = {record.bytes, std::max(record.alignment, swapped)},
                   .place = place_in_step(plan, all.size()),
                   .swapped_bytes = swapped,
                   .decoding = decoding,
                   .decoded_place = decoded_place(plan, decoded, all.size())});
  }
  return all;
}

}  // namespace ooc
