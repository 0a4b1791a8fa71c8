#pragma once

#include <ooc/detail/codec/codec.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/file/file.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ooc::detail {

/// How the records of an array are stored, if they are not read as they are. Each is decoded by
/// itself, so any of them can be a piece of an EncodedArray.
struct RecordCodec {
  std::shared_ptr<const Codec> codec;
  std::uint64_t stored_bytes, bytes;  // of a record, as it is stored and as it is read
};

/// Returns the codec of rows that have the number of their elements, four bytes little-endian, in
/// front. It refuses rows of another length.
std::shared_ptr<const RecordCodec> counted_rows(std::uint32_t elements, std::size_t element_bytes);

/// Returns the codec of integers, big-endian, of which the sign bit is inverted: signed ones for
/// unsigned ones, and the other way round.
std::shared_ptr<const RecordCodec> inverted_signs(std::size_t element_bytes);

/// Returns a file over the records of an array, and places the array at its beginning. Throws
/// Error(bad_input) if the file is not a local one.
File of_records(File file, StoredArray& array);

}  // namespace ooc::detail
