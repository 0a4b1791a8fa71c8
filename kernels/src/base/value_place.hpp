#pragma once

#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/dtype.hpp>
#include <ooc/source.hpp>

#include <cstdint>
#include <string>

namespace ooc::detail {

/// Where a number of each record is.
struct ValuePlace {
  ElementType type;
  bool swapped = false;      // it does not have this machine's byte order
  std::uint64_t offset = 0;  // in the record (bytes)
};

/// True if the source holds structs.
bool has_fields(const Source& source);

/// Returns the place of a field of structs, or of a column of rows, by its name or number. Throws
/// Error(usage) if there is no such column, or if it is no single number.
ValuePlace place_of(const std::string& column, const Source& source);

/// Returns the shape of the records of a source: its structs or, `by_rows`, its rows, else its
/// elements. Throws Error(usage) if it does not consist of whole ones.
RecordShape record_shape_of(const Source& source, bool by_rows);

/// Throws Error(bad_input) if a source is stored column by column.
void require_by_rows(const Source& source);

}  // namespace ooc::detail
