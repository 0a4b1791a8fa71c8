#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/device.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc::detail {

/// The size and the alignment of a record (bytes). A record is what a pass never divides: an
/// element, a struct, or a row of elements whose number is known at run time.
struct RecordShape {
  std::size_t bytes;      ///< size of a record
  std::size_t alignment;  ///< a power of two

  /// A record of one value: it is aligned to the largest power of two that divides its size, but to
  /// no more than any type needs.
  constexpr RecordShape(std::size_t size)
      : RecordShape(size, std::min(size & (~size + 1), most_alignment)) {}
  /// A record of `size` bytes that is aligned to `aligned_to` bytes.
  constexpr RecordShape(std::size_t size, std::size_t aligned_to)
      : bytes(size), alignment(aligned_to) {}

  static constexpr std::size_t most_alignment = 256;  ///< all types need less (bytes)
};

/// The way from a stored record to the struct that an operator reads. Without moves, that is the
/// record as it is stored.
struct Decoding {
  std::size_t bytes = 0;           ///< size of the struct
  std::vector<FieldMove> moves{};  ///< of each field, or of several that follow one another
};

class ResidentMemory;

/// An input of a pass. If there are several, they have equally many records.
struct PassInput {
  const Source& source;  ///< outlives the pass
  RecordShape record;    ///< as it is stored
  Decoding decoding{};   ///< the way to what the operator reads
  /// Memory that keeps the inputs of the pass on the device, the same one for each; or null.
  ResidentMemory* resident = nullptr;

  /// Size of what an operator reads (bytes).
  std::size_t decoded_bytes() const noexcept {
    return decoding.moves.empty() ? record.bytes : decoding.bytes;
  }
};

/// The number of records of an input; of a producer, more than it can make.
OOC_API std::uint64_t records_of(const PassInput& input);

/// The number of records before an input in the source of which it is a section.
OOC_API std::uint64_t records_before(const PassInput& input);

/// True if a producer makes the input of a pass.
OOC_API bool is_produced(std::span<const PassInput> inputs);

}  // namespace ooc::detail
