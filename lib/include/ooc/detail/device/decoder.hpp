#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ooc::detail {

/// Moves a field from its offset in one record to its offset in another one.
struct FieldMove {
  std::size_t from = 0;           ///< offset in the records that are read (bytes)
  std::size_t to = 0;             ///< offset in the records that are written (bytes)
  std::size_t bytes = 0;          ///< size of the field
  std::size_t swapped_bytes = 0;  ///< size of its elements if their bytes are reversed on the way
};

/// Source records, and room for the records that their fields are moved to. Sizes are in bytes.
struct MovedRecords {
  std::byte* target = nullptr;        ///< room for the records that are made
  std::size_t target_bytes = 0;       ///< of a record
  const std::byte* source = nullptr;  ///< the records that are read
  std::size_t source_bytes = 0;       ///< of a record
  std::size_t count = 0;              ///< number of records
};

/// The most groups that records are divided into.
inline constexpr std::size_t most_groups = 4096;

/// Records that are divided into groups, and room for the result. All pointers are to memory of the
/// device.
struct GroupedRecords {
  std::byte* target = nullptr;        ///< room for all records
  const std::byte* source = nullptr;  ///< the records, which do not overlap the room
  std::size_t record_bytes = 1;       ///< of a record
  std::size_t count = 0;              ///< number of records
  std::uint16_t* groups = nullptr;    ///< the group of each record; is overwritten
  std::size_t group_count = 1;        ///< at most most_groups
  /// Room for the number of records in each group, and then for the index of the first record
  /// whose group does not exist; `count` if there is none.
  std::uint64_t* sizes = nullptr;
};

/// Gathers stored bytes and decodes them into records, on a stream. Each Stream has one.
class OOC_API Decoder {
 public:
  virtual ~Decoder() = default;

  /// Copies pieces of one block of host memory to `target`, one behind the other. They may be of
  /// any sizes and begin anywhere. Many small ones take hardly longer than a single one if the
  /// memory is page-locked.
  virtual void gather(std::byte* target, std::span<const std::span<std::byte>> pieces) = 0;

  /// Reverses the bytes of each element of `element_bytes` (1, 2, 4 or 8) in an array of `bytes`
  /// bytes.
  virtual void swap_bytes(void* data, std::size_t bytes, std::size_t element_bytes) = 0;

  /// Replaces each byte that is not 0 by 1, in rows like those of copy_rows(). In a file of bool,
  /// any such byte stands for `true`.
  virtual void make_bools(void* data, std::size_t pitch, std::size_t row_bytes,
                          std::size_t rows) = 0;

  /// Copies the fields of each record to the record with the same index in another array. The
  /// arrays do not overlap. Bytes between the target fields are not changed.
  virtual void move_fields(const MovedRecords& records, std::span<const FieldMove> moves) = 0;

  /// Copies the records of group 0, then those of group 1 and so on. Those of a group keep their
  /// order. What follows them in the room is not specified.
  virtual void group(const GroupedRecords& records) = 0;
};

}  // namespace ooc::detail
