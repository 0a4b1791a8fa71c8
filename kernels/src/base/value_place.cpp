#include "base/value_place.hpp"

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

namespace ooc::detail {

namespace {

ValuePlace field_place(const std::string& name, const Source& source) {
  const std::vector<Field>& fields = source.type()->fields;
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found == fields.end()) {
    throw Error(ErrorKind::usage, source.name() + ": has no field " + name,
                {.hint = "its fields are those of " + code_of(*source.type())});
  }
  if (found->count != 1) {
    throw Error(ErrorKind::usage, source.name() + ": the field " + name + " is " + code_of(*found) +
                                      ", which is no single number");
  }
  return {found->element, found->swapped, found->offset};
}

ValuePlace column_place(const std::string& text, const Source& source) {
  if (!source.columns()) row_bytes_of(source, size_of(source.element()));  // throws
  const std::uint64_t columns = source.columns().value_or(1);
  std::uint64_t column = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, column);
  if (failed != std::errc{} || rest != end || column >= columns) {
    throw Error(
        ErrorKind::usage, source.name() + ": has no column " + text,
        {.hint = columns == 0   ? "its rows have no elements"
                 : columns == 1 ? "its only column is 0"
                                : "columns are numbered from 0 to " + std::to_string(columns - 1)});
  }
  return {source.element(), false, column * size_of(source.element())};
}

}  // namespace

bool has_fields(const Source& source) {
  return source.type() && source.type()->is_struct();
}

ValuePlace place_of(const std::string& column, const Source& source) {
  return has_fields(source) ? field_place(column, source) : column_place(column, source);
}

RecordShape record_shape_of(const Source& source, bool by_rows) {
  const DType type = source.type().value_or(DType{});
  const std::size_t bytes = size_of(type), alignment = type.is_struct() ? 1 : bytes;
  const std::size_t row_bytes = by_rows ? row_bytes_of(source, bytes) : bytes;
  if (source.elements() % (row_bytes / bytes) == 0) return {row_bytes, alignment};
  throw Error(ErrorKind::usage, source.name() + ": does not consist of whole rows",
              {.why = "each has " + std::to_string(row_bytes / bytes) + " elements",
               .hint = "leave out, or use, a multiple of that"});
}

void require_by_rows(const Source& source) {
  if (!source.by_columns()) return;
  throw Error(
      ErrorKind::bad_input, source.name() + ": is stored column by column",
      {.why = "its records would be taken in the order of the file", .hint = "save it row by row"});
}

}  // namespace ooc::detail
