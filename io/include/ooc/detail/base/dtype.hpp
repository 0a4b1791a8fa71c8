#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/element_type.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc {

/// A field of a struct: an element, or several of one type.
struct Field {
  std::string name;                       ///< by which a struct in C++ finds it
  ElementType element = ElementType::u1;  ///< of each of its elements
  bool swapped = false;                   ///< the file's byte order differs from this machine's
  std::size_t offset = 0;                 ///< in the struct (bytes)
  std::size_t count = 1;                  ///< of elements
  bool is_bool = false;                   ///< u1 in which any byte but 0 stands for 1

  /// Returns the size of all its elements (bytes).
  std::size_t bytes() const { return size_of(element) * count; }

  friend bool operator==(const Field&, const Field&) = default;
};

/// The type of a dataset: an element type and its byte order in the file or, if there are fields, a
/// struct. Wherever a DType is asked for, an ElementType will do.
struct DType {
  DType() = default;
  /// An element type or, with fields, a struct.
  DType(ElementType of, bool is_swapped = false, std::vector<Field> of_fields = {},
        std::size_t bytes = 0)
      : element(of), swapped(is_swapped), fields(std::move(of_fields)), struct_bytes(bytes) {}

  ElementType element = ElementType::u1;  ///< unless it is a struct
  bool swapped = false;                   ///< the file's byte order differs from this machine's
  std::vector<Field> fields{};            ///< of a struct, by their offsets; they do not overlap
  std::size_t struct_bytes{};             ///< size of a struct, with its padding
  bool is_bool = false;                   ///< u1 in which any byte but 0 stands for 1

  /// True if records have fields.
  bool is_struct() const noexcept { return !fields.empty(); }

  friend bool operator==(const DType&, const DType&) = default;
};

/// Returns the size of an element or of a struct (bytes).
inline std::size_t size_of(const DType& type) {
  return type.is_struct() ? type.struct_bytes : size_of(type.element);
}

/// Returns NumPy's code with the byte order: "<f4", ">i2", "|u1". For bf16, which NumPy does not
/// have, "<bf16" or ">bf16". For a struct, the text that parse_dtype() understands.
OOC_API std::string code_of(const DType& type);

/// The same for a field: "<f4", or "<f4[3]" for three.
OOC_API std::string code_of(const Field& field);

/// Parses the name of an element type. Accepts NumPy's codes and names with an optional byte order
/// ("f4", ">i2", "|u1", "uint8", "float32", "double", "d"), "bf16" and "bfloat16", and the
/// unambiguous short names of Rust and C ("f32", "u16", "i64"). "u8" and "i8" are NumPy's codes: 8
/// bytes, and so is its "float".
///
/// Parses also a struct, "{x:f4,y:>i2,v:f4[3]}": its fields in their order, without space between
/// them. ":V4" stands for 4 bytes of padding. A name with one of the characters : , { } [ ], or
/// with a space or a ' at its beginning, is in quotes, where '' stands for one: "{'a:b':f4}".
///
/// Throws Error(usage) for other names and suggests the nearest match; for a struct, with the field
/// and its place in the text.
OOC_API DType parse_dtype(std::string_view text);

}  // namespace ooc
