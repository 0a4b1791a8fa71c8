#pragma once

#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/device.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace ooc::detail {

/// The places of bools in records, which follow one another at a distance of `pitch` (bytes).
struct StoredBools {
  std::size_t offset, bytes, pitch;
};

/// The records of one input as they are stored, and their place in a step on the device.
struct StoredRecords {
  RecordShape record{1};
  std::size_t place = 0;          // in a buffer for a step (bytes)
  std::size_t swapped_bytes = 0;  // size of the elements if their bytes are swapped, else 0
  std::vector<StoredBools> bools{};
  Decoding decoding{};            // of structs
  std::size_t decoded_place = 0;  // in a buffer for decoded structs (bytes)

  /// Puts elements that were loaded to the device into this machine's byte order, and makes bools
  /// 0 or 1.
  void normalize(Stream& stream, DeviceSpan<std::byte> data) const;

  /// Returns the records that an operation reads. The fields of structs are moved to `decoded`.
  DeviceSpan<const std::byte> decode(Stream& stream, DeviceSpan<std::byte> data,
                                     std::byte* decoded) const;
};

/// Returns how the inputs of a pass are stored.
std::vector<StoredRecords> stored_records(std::span<const PassInput> inputs,
                                          const SequentialPlan& plan);

}  // namespace ooc::detail
