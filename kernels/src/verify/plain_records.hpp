#pragma once

#include <ooc/dtype.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

// Shared by the checks of results about records: reads these one after another.

namespace ooc::detail::plain {

/// Numbers in which all values of all types are exact.
static_assert(std::numeric_limits<long double>::digits >= 64);

/// Reads records one after another: so many elements each, in this machine's byte order.
class RecordReader {
 public:
  /// `source` must outlive the reader.
  RecordReader(const Source& source, std::uint64_t record_elements)
      : source_(source),
        type_(source.type().value_or(DType{})),
        record_elements_(record_elements) {}

  std::uint64_t records() const { return source_.elements() / record_elements_; }
  std::size_t record_bytes() const { return record_elements_ * size_of(type_); }

  /// Returns the next `count` records.
  std::vector<std::byte> next(std::uint64_t count);

 private:
  const Source& source_;
  DType type_;
  std::uint64_t record_elements_;
  std::uint64_t first_ = 0;
};

/// A number of each record.
struct NumberInRecord {
  DType type{};
  std::size_t offset = 0;  // in the record (bytes)

  /// Returns the number in a record that RecordReader has read.
  long double value_in(std::span<const std::byte> record) const;
};

/// Returns the number in the records of a source: a field of structs, a column of rows, or the
/// element itself if `column` is empty.
NumberInRecord number_in(const std::string& column, const Source& source);

}  // namespace ooc::detail::plain
