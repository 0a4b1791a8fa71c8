#include <ooc/detail/inputs/input_type.hpp>

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <string>

namespace ooc::detail {
namespace {

using Kind = InputType::Kind;

Error bad_source(const Source& source, const std::string& message, const std::string& why,
                 const std::string& hint) {
  const std::filesystem::path path = path_of(source);
  return Error(ErrorKind::bad_input, path.empty() ? message : path.string() + ": " + message,
               {.path = path, .why = why, .hint = hint});
}

/// Returns the name of the type: "float32", or "8 float32" for several.
std::string describe(ElementType element, std::uint64_t count) {
  return (count == 1 ? "" : std::to_string(count) + " ") + std::string(name_of(element));
}

std::string describe_shape(const Source& source) {
  std::string text = "N";  // rows of a section
  if (!source.shape().empty()) text = std::to_string(source.shape().front());
  for (const std::uint64_t length : source.row_shape()) text += " x " + std::to_string(length);
  return text;
}

void require_whole(const Source& source, std::size_t input_bytes) {
  const std::uint64_t bytes = source.elements() * size_of(source.type().value_or(DType{}));
  const std::uint64_t rest = bytes % input_bytes;
  if (rest == 0) return;
  throw bad_source(source,
                   std::to_string(bytes) + " bytes are not a whole number of elements of " +
                       std::to_string(input_bytes) + " bytes",
                   std::to_string(rest) + " bytes are left over", "");
}

void require_no_header(const Source& source) {
  for (const File& file : files_of(source)) {
    if (!begins_like_npy(file)) continue;
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": is a .npy file, opened as plain bytes",
                {.path = file.path(),
                 .why = "its header would be read as data",
                 .hint = "ooc::open(path) finds the data, their type and their shape"});
  }
}

/// Returns the error for an operator that reads rows, `wanted`, of arrays in Fortran order.
Error no_rows(const Source& source, const std::string& wanted) {
  return bad_source(source, "is stored column by column, the operator takes " + wanted,
                    "the elements of a row do not lie side by side", "save it row by row");
}

/// True if `count` elements are those of the last dimension, of the last two, and so on.
bool is_whole_row(const Source& source, std::uint64_t count) {
  std::uint64_t product = 1;
  const auto shape = source.row_shape();
  for (auto length = shape.rbegin(); length != shape.rend() && product < count; ++length) {
    product *= std::max<std::uint64_t>(*length, 1);  // data without elements fits any row
  }
  // A section has any number of whole rows, so none of the first dimension is known to be whole.
  if (!source.is_section() && product < count) {
    product *= std::max<std::uint64_t>(source.shape().front(), 1);
  }
  return product == count || source.bytes() == 0;
}

void require_rows(const Source& source, ElementType element, std::uint64_t count) {
  if (count == 1) return;
  if (source.by_columns()) {
    throw no_rows(source, "rows of " + describe(element, count));
  }
  if (!source.row_shape().empty() && !is_whole_row(source, count)) {
    throw bad_source(source,
                     "has the shape " + describe_shape(source) + ", the operator takes rows of " +
                         describe(element, count),
                     "a row has the elements of the last dimension, or of the last few",
                     "give the operator an Input of that length, or of one element");
  }
}

void require_bytes_of_structs(const Source& source, const InputType& wanted) {
  const DType& held = *source.type();
  if (wanted.kind != Kind::bytes) {
    throw bad_source(source,
                     "holds structs " + code_of(held) + ", the operator takes " +
                         (wanted.kind == Kind::unknown
                              ? "a struct that does not declare its fields"
                              : describe(wanted.element, wanted.bytes / size_of(wanted.element))),
                     "an operator reads the fields that its Input names",
                     "give it an Input that declares them: `static constexpr auto fields = "
                     "ooc::fields(ooc::field(\"" +
                         held.fields.front().name + "\", &Input::member));`");
  }
  if (wanted.bytes != 1 && wanted.bytes % held.struct_bytes != 0) {
    throw bad_source(source,
                     "holds structs of " + std::to_string(held.struct_bytes) +
                         " bytes, the operator takes " + std::to_string(wanted.bytes) +
                         " bytes at once",
                     "these are not a whole number of structs",
                     "give it an Input that declares the fields that it reads, or is as long");
  }
  require_whole(source, wanted.bytes);
}

}  // namespace

std::size_t row_bytes_of(const Source& source, std::size_t element_bytes) {
  if (!source.columns()) {
    throw bad_source(source, "the rows of the files have different lengths",
                     "the operator takes whole rows, all of one length", "");
  }
  const std::uint64_t columns = *source.columns();
  if (source.by_columns() && columns != 1) throw no_rows(source, "rows");
  const bool has_rows = !source.shape().empty() && source.shape().front() != 0;
  std::size_t bytes = 0;
  if ((columns == 0 && has_rows) || __builtin_mul_overflow(columns, element_bytes, &bytes)) {
    throw bad_source(source, "has the shape " + describe_shape(source),
                     columns == 0 ? "its rows have no elements" : "its rows are too long", "");
  }
  return std::max(bytes, element_bytes);
}

void require_type(const Source& source, const InputType& wanted) {
  if (!source.type()) {
    if (wanted.bytes > 1) require_no_header(source);
    return require_whole(source, wanted.bytes);
  }
  if (source.type()->is_struct()) return require_bytes_of_structs(source, wanted);
  const ElementType held = source.type()->element;
  if (wanted.kind == Kind::unknown) {
    throw bad_source(source,
                     "holds " + std::string(name_of(held)) +
                         ", and the operator's Input does not say what it is made of",
                     "structs of the same size need not have the same members",
                     "declare `using Element = float;` (or what it is) in the struct, or open the "
                     "file as plain bytes: ooc::Source{ooc::File::open(path)}");
  }
  if (wanted.kind == Kind::bytes) {
    if (wanted.bytes == 1 && !SourceAccess::field(source)) return;
    if (wanted.bytes % size_of(held) != 0) {
      throw bad_source(source,
                       "holds " + std::string(name_of(held)) + ", the operator takes " +
                           std::to_string(wanted.bytes) + " bytes at once",
                       "these are not a whole number of elements", "");
    }
  } else if (wanted.element != held) {
    const std::uint64_t count = wanted.bytes / size_of(wanted.element);
    throw bad_source(source,
                     "holds " + std::string(name_of(held)) + ", the operator takes " +
                         describe(wanted.element, count),
                     "", "give the operator the Input that the file holds");
  }
  require_rows(source, held, wanted.bytes / size_of(held));
  require_whole(source, wanted.bytes);
}

}  // namespace ooc::detail
