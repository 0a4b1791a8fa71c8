#include "pass/stored_records.hpp"

#include <ooc/detail/dataset/source_access.hpp>

#include <algorithm>

#include "sizing/dry_run_pass.hpp"
#include "sizing/layout.hpp"

namespace ooc::detail {

namespace {

std::vector<StoredBools> bools_of(const Source& source, std::size_t record_bytes) {
  if (!source.type()) return {};
  const DType& type = *source.type();
  if (type.is_bool) {
    const auto& field = SourceAccess::field(source);
    return {{field ? field->offset : 0, 1, source.element_bytes()}};
  }
  std::vector<StoredBools> bools;
  for (const Field& field : type.fields) {
    if (field.is_bool) bools.push_back({field.offset, field.bytes(), type.struct_bytes});
  }
  // An operator that takes bytes of any number sees those of structs as they are stored.
  return record_bytes % size_of(type) == 0 ? bools : std::vector<StoredBools>{};
}

}  // namespace

void StoredRecords::normalize(Stream& stream, DeviceSpan<std::byte> data) const {
  if (swapped_bytes != 0) decoder_of(stream).swap_bytes(data.data, data.size, swapped_bytes);
  for (const auto& [offset, bytes, pitch] : bools) {
    decoder_of(stream).make_bools(data.data + offset, pitch, bytes, data.size / pitch);
  }
}

DeviceSpan<const std::byte> StoredRecords::decode(Stream& stream, DeviceSpan<std::byte> data,
                                                  std::byte* decoded) const {
  if (decoding.moves.empty()) return {data.data, data.size};
  const MovedRecords records{.target = decoded + decoded_place,
                             .target_bytes = decoding.bytes,
                             .source = data.data,
                             .source_bytes = decoding.stored_bytes,
                             .count = data.size / decoding.stored_bytes};
  decoder_of(stream).move_fields(records, decoding.moves);
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
                   .bools = bools_of(source, record.bytes),
                   .decoding = decoding,
                   .decoded_place = decoded_place(plan, decoded, all.size())});
  }
  return all;
}

}  // namespace ooc::detail
