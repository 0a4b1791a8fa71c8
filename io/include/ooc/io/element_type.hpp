#pragma once

#include <ooc/io/language.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ooc {

/// IEEE 754 binary16, as it lies in a file. Converts to float exactly.
struct Float16 {
  std::uint16_t bits;

  constexpr explicit operator float() const {
    // Shifting exponent and fraction into place leaves the exponent 112 too small; the
    // multiplication corrects that and normalises subnormals on the way. Both steps are exact.
    const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const std::uint32_t special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
  }
};

/// bfloat16: the upper half of a float.
struct BFloat16 {
  std::uint16_t bits;

  constexpr explicit operator float() const {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  }
};

/// The types an element of a dataset can have, by NumPy's codes. NumPy has no bf16.
enum class ElementType : std::uint8_t { u1, u2, u4, u8, i1, i2, i4, i8, f2, f4, f8, bf16 };

/// An element type and the order of its bytes in the file.
struct DType {
  ElementType element = ElementType::u1;
  bool swapped = false;  // the file's byte order is not this machine's

  friend bool operator==(const DType&, const DType&) = default;
};

/// True for the types whose values are not integers.
template <class T>
inline constexpr bool is_floating =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The C++ types that an element of a dataset is read as.
template <class T>
concept IsElement = (std::is_integral_v<T> && !std::is_same_v<T, bool>) || is_floating<T>;

/// The value of an element as a double: exact but for u8 and i8, which round to nearest even.
template <class T>
constexpr double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

/// Calls `body(std::type_identity<T>{})` with the C++ type of `element` and returns its result.
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

/// The element type that is read as the C++ type T.
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

/// Bytes of one element.
constexpr std::size_t size_of(ElementType element) {
  return visit(element, []<class T>(std::type_identity<T>) { return sizeof(T); });
}

/// "float32", "uint8", "bfloat16": NumPy's long name.
std::string_view name_of(ElementType element);

/// NumPy's code with the byte order: "<f4", ">i2", "|u1". bf16 has none there: "<bf16".
std::string code_of(DType type);

/// Understands NumPy's codes and names with an optional byte order, "f4", ">i2", "|u1", "uint8",
/// "float32", also "bf16" or "bfloat16", and the short names of Rust and C that cannot be mistaken,
/// "f32", "u16", "i64". "u8" and "i8" are NumPy's codes: 8 bytes. Throws Error(usage) with the
/// nearest match otherwise.
DType parse_dtype(std::string_view text);

/// How a file's name ends, in lower case: ".npy" of "X.NPY". Empty if it has no ending.
std::string ending_of(const std::filesystem::path& path);

/// The type that the ending of a raw file names, if it does. Endings count bits, ".u8", ".f32",
/// ".bf16"; NumPy's names and codes name it too, ".float32", ".f4", but ".u8" and ".i8" have 8 bits
/// and ".f8" names nothing. ".half" is float16, ".pcm" int16.
std::optional<ElementType> type_of_ending(std::string_view ending);

}  // namespace ooc
