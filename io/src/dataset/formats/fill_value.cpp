#include "dataset/formats/fill_value.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace ooc::detail {
namespace {

using Json = nlohmann::json;

/// Returns the half-precision value that equals a number; empty if there is none.
template <class Half>
std::optional<Half> half_of(double number) {
  if (std::isnan(number)) {  // the quiet NaN whose other bits are 0
    return Half{static_cast<std::uint16_t>(std::is_same_v<Half, Float16> ? 0x7e00 : 0x7fc0)};
  }
  for (std::uint32_t bits = 0; bits <= std::numeric_limits<std::uint16_t>::max(); ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const auto value = static_cast<double>(static_cast<float>(half));
    if (value == number && std::signbit(value) == std::signbit(number)) return half;
  }
  return {};
}

std::optional<double> float_of(const Json& value) {
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// Returns the bits that a text such as "0x7fc00000" gives, all digits of them.
template <class Bits>
std::optional<Bits> bits_of(const Json& value) {
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  Bits bits = 0;
  if (!text.starts_with("0x") || text.size() != 2 + 2 * sizeof(Bits)) return {};
  const auto [end, failed] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (failed != std::errc{} || end != text.data() + text.size()) return {};
  return bits;
}

template <class T>
std::optional<T> element_of(const Json& value) {
  if constexpr (std::is_integral_v<T>) {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    if (!value.is_number_integer()) return {};
    const auto number = value.get<std::int64_t>();
    return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
  } else {
    using Bits =
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    if (const auto bits = bits_of<Bits>(value)) return std::bit_cast<T>(*bits);
    const std::optional<double> number = float_of(value);
    if (!number) return {};
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(*number);
    else
      return half_of<T>(*number);
  }
}

}  // namespace

std::optional<std::vector<std::byte>> parse_fill_value(const Json& value, const DType& type) {
  const auto bytes_of =
      [&]<class T>(std::type_identity<T>) -> std::optional<std::vector<std::byte>> {
    const std::optional<T> element = element_of<T>(value);
    if (!element) return {};
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(*element);
    std::vector<std::byte> stored(bytes.begin(), bytes.end());
    if (type.swapped) std::ranges::reverse(stored);
    return stored;
  };
  if (!type.is_bool) return visit(type.element, bytes_of);
  if (!value.is_boolean()) return {};
  return std::vector{std::byte{value.get<bool>()}};
}

}  // namespace ooc::detail
