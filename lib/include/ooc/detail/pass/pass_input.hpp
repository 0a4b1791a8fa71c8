#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/device.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// How the structs of which a stored record consists become those that an operator reads. Without
/// moves, the operator reads them as they are stored.
struct Decoding {
  std::size_t stored_bytes = 0;    ///< size of a struct as it is stored
  std::size_t bytes = 0;           ///< size of the struct or element that it becomes
  std::vector<FieldMove> moves{};  ///< of each field, or of several that follow one another
};

class ResidentMemory;

/// An input of a pass. If there are several, they have equally many records.
struct PassInput {
  const Source& source;  ///< outlives the pass
  RecordShape record;    ///< as it is stored
  Decoding decoding{};   ///< how it becomes the record that the operator reads
  /// Memory that has the inputs of the pass on the device, the same one for each; or null.
  std::shared_ptr<ResidentMemory> resident{};

  /// Returns the size of a record as an operator reads it (bytes).
  std::size_t decoded_bytes() const noexcept {
    if (decoding.moves.empty()) return record.bytes;
    return record.bytes / decoding.stored_bytes * decoding.bytes;
  }
};

/// Returns the number of records of an input; for a producer, more than it can make.
OOC_API std::uint64_t records_of(const PassInput& input);

/// Returns the number of records before an input in the whole source, if it is a section.
OOC_API std::uint64_t records_before(const PassInput& input);

/// True if a producer makes the input of a pass.
OOC_API bool is_produced(std::span<const PassInput> inputs);

}  // namespace ooc::detail
