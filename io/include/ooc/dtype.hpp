#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

/// An IEEE 754 binary16 value (NumPy's float16), stored as its bits. Conversion to float is exact.
struct Float16 {
  std::uint16_t bits;  ///< sign, 5 bits of exponent, 10 of fraction

  /// Returns the same value; a NaN stays a NaN.
  constexpr explicit operator float() const {
    // Shifting exponent and fraction into place leaves the exponent 112 too small. The
    // multiplication corrects the exponent and normalises subnormals. Both steps are exact.
    const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const std::uint32_t special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
  }
};

/// A bfloat16 value: the upper half of a float. Conversion to float is exact.
struct BFloat16 {
  std::uint16_t bits;  ///< sign, 8 bits of exponent, 7 of fraction

  /// Returns the same value; a NaN stays a NaN.
  constexpr explicit operator float() const {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  }
};

/// The element types of a dataset, named by NumPy's codes. NumPy has no bf16.
enum class ElementType : std::uint8_t { u1, u2, u4, u8, i1, i2, i4, i8, f2, f4, f8, bf16 };

/// True for floating-point types, including Float16 and BFloat16.
template <class T>
inline constexpr bool is_floating =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// A C++ type that elements of a dataset can be read as.
template <class T>
concept IsElement = (std::is_integral_v<T> && !std::is_same_v<T, bool>) || is_floating<T>;

/// Returns the element as a double. Exact except for u8 and i8, which round to nearest even.
template <class T>
constexpr double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

/// Calls `body(std::type_identity<T>{})` with the C++ type T of `element` and returns its result.
template <class Body>
constexpr decltype(auto) visit(ElementType element, Body&& body) {
  switch (element) {
    case ElementType::u1: return body(std::type_identity<std::uint8_t>{});
    case ElementType::u2: return body(std::type_identity<std::uint16_t>{});
    case ElementType::u4: return body(std::type_identity<std::uint32_t>{});
    case ElementType::u8: return body(std::type_identity<std::uint64_t>{});
    case ElementType::i1: return body(std::type_identity<std::int8_t>{});
    case ElementType::i2: return body(std::type_identity<std::int16_t>{});
    case ElementType::i4: return body(std::type_identity<std::int32_t>{});
    case ElementType::i8: return body(std::type_identity<std::int64_t>{});
    case ElementType::f2: return body(std::type_identity<Float16>{});
    case ElementType::f4: return body(std::type_identity<float>{});
    case ElementType::f8: return body(std::type_identity<double>{});
    case ElementType::bf16: return body(std::type_identity<BFloat16>{});
  }
  __builtin_unreachable();
}

/// Returns the element type that is read as the C++ type T.
template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return ElementType::f4;
  else if constexpr (std::is_same_v<T, double>)
    return ElementType::f8;
  else if constexpr (std::is_same_v<T, Float16>)
    return ElementType::f2;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return ElementType::bf16;
  else {
    static_assert(std::is_integral_v<T>, "libooc reads integers, float, double, f2 and bf16");
    constexpr int base = std::is_signed_v<T> ? static_cast<int>(ElementType::i1) : 0;
    return static_cast<ElementType>(base + std::countr_zero(sizeof(T)));
  }
}

/// Returns the size of one element (bytes).
constexpr std::size_t size_of(ElementType element) {
  return visit(element, []<class T>(std::type_identity<T>) { return sizeof(T); });
}

/// Returns NumPy's long name: "float32", "uint8"; for bf16 "bfloat16".
OOC_API std::string_view name_of(ElementType element);

/// Returns the extension of a file in lower case, with its dot: ".npy" for "X.NPY". Empty if it has
/// none.
OOC_API std::string ending_of(const std::filesystem::path& path);

/// Returns the element type that the extension of a raw file names; empty if it names none.
/// Extensions count bits (".u8", ".f32", ".bf16"). NumPy's names and codes are accepted too
/// (".float32", ".f4"), except that ".u8" and ".i8" have 8 bits and ".f8" names no type. ".half" is
/// float16, ".pcm" int16.
OOC_API std::optional<ElementType> type_of_ending(std::string_view ending);

/// A field of a struct: an element, or several of one type.
struct Field {
  std::string name;                       ///< by which a struct in C++ finds it
  ElementType element = ElementType::u1;  ///< of each of its elements
  bool swapped = false;                   ///< the file's byte order differs from this machine's
  std::size_t offset = 0;                 ///< in the struct (bytes)
  std::size_t count = 1;                  ///< of elements
  bool is_bool = false;                   ///< u1 in which any byte but 0 stands for 1
  std::string npy_kind{};  ///< its type in a .npy file, if it says more: "S5", "M8[ns]"
  std::vector<std::uint64_t> npy_shape{};  ///< its shape in a .npy file

  /// Returns the size of all its elements (bytes).
  std::size_t bytes() const { return size_of(element) * count; }

  /// True if both have the same name, numbers and place.
  friend bool operator==(const Field& a, const Field& b) {
    return std::tie(a.name, a.element, a.swapped, a.offset, a.count, a.is_bool) ==
           std::tie(b.name, b.element, b.swapped, b.offset, b.count, b.is_bool);
  }
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

/// Returns the code of a field: "<f4", or "<f4[3]" for three elements.
OOC_API std::string code_of(const Field& field);

/// Parses the name of an element type. Accepts NumPy's codes and names with an optional byte order
/// ("f4", ">i2", "|u1", "uint8", "float32", "double", "d"), "bf16" and "bfloat16", and the
/// unambiguous short names of Rust and C ("f32", "u16", "i64"). "u8" and "i8" are NumPy's codes: 8
/// bytes, and so is its "float".
///
/// Parses also a struct, "{x:f4,y:>i2,v:f4[3]}": its fields in their order, without space between
/// them. ":V4" stands for 4 bytes of padding, and "|b1" for a bool. A name with one of the
/// characters : , { } [ ], or with a space or a ' at its beginning, is in quotes, where '' stands
/// for one: "{'a:b':f4}".
///
/// Throws Error(usage) for other names and suggests the nearest match; for a struct, with the field
/// and its place in the text.
OOC_API DType parse_dtype(std::string_view text);

}  // namespace ooc
