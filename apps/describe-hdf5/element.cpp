#include "element.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "handle.hpp"

namespace ooc_describe {
namespace {

/// The parts of a floating-point number (bits).
struct Layout {
  std::size_t sign, exponent, exponent_bits, mantissa, mantissa_bits, bias;

  friend bool operator==(const Layout&, const Layout&) = default;
};

struct FloatType {
  std::size_t bytes;
  Layout layout;
};

constexpr std::array<FloatType, 3> ieee{
    {{2, {15, 10, 5, 0, 10, 15}}, {4, {31, 23, 8, 0, 23, 127}}, {8, {63, 52, 11, 0, 52, 1023}}}};

/// Returns NumPy's letter for the order of bytes; empty if it is none of the usual ones.
std::string order_of(hid_t type, std::size_t bytes) {
  const H5T_order_t order = H5Tget_order(type);
  if (bytes == 1 && (order == H5T_ORDER_LE || order == H5T_ORDER_BE)) return "|";
  return order == H5T_ORDER_LE ? "<" : order == H5T_ORDER_BE ? ">" : "";
}

/// True if all bits of an element belong to its number.
bool has_no_padding(hid_t type, std::size_t bytes) {
  constexpr std::size_t byte_bits = 8;
  return H5Tget_precision(type) == byte_bits * bytes && H5Tget_offset(type) == 0;
}

Element integer_of(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  const std::string order = order_of(type, bytes);
  const bool is_usual = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (!is_usual || order.empty() || !has_no_padding(type, bytes)) {
    return {"", "integers with padding, or of an unusual size"};
  }
  return {order + (H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "i") + std::to_string(bytes), ""};
}

Element float_of(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  Layout layout{};
  checked(H5Tget_fields(type, &layout.sign, &layout.exponent, &layout.exponent_bits,
                        &layout.mantissa, &layout.mantissa_bits),
          "H5Tget_fields");
  layout.bias = H5Tget_ebias(type);
  const auto* const found = std::ranges::find(ieee, bytes, &FloatType::bytes);
  const std::string order = order_of(type, bytes);
  if (found == ieee.end() || found->layout != layout || order.empty() ||
      !has_no_padding(type, bytes) || H5Tget_norm(type) != H5T_NORM_IMPLIED) {
    return {"", "floating-point numbers of an unusual format"};
  }
  return {order + "f" + std::to_string(bytes), ""};
}

/// True for the type that h5py makes of bool: a byte that is FALSE or TRUE.
bool is_bool(hid_t type) {
  if (H5Tget_nmembers(type) != 2 || H5Tget_size(type) != 1) return false;
  std::array<char, 8> no{}, yes{};
  unsigned char none = 0, one = 1;
  return H5Tenum_nameof(type, &none, no.data(), no.size()) >= 0 &&
         H5Tenum_nameof(type, &one, yes.data(), yes.size()) >= 0 &&
         std::string_view(no.data()) == "FALSE" && std::string_view(yes.data()) == "TRUE";
}

Element enum_of(hid_t type) {
  if (is_bool(type)) return {"|b1", ""};
  const TypeHandle base(H5Tget_super(type), "H5Tget_super");
  return integer_of(base);
}

}  // namespace

Element element_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return integer_of(type);
    case H5T_FLOAT: return float_of(type);
    case H5T_ENUM: return enum_of(type);
    case H5T_STRING: return {"", "strings"};
    case H5T_COMPOUND: return {"", "structs"};
    case H5T_ARRAY: return {"", "small arrays"};
    case H5T_VLEN: return {"", "lists of any length"};
    case H5T_REFERENCE: return {"", "references"};
    case H5T_OPAQUE: return {"", "opaque bytes"};
    case H5T_BITFIELD: return {"", "bit fields"};
    default: return {"", "elements of an unusual type"};
  }
}

nlohmann::json value_of(const std::string& code, const std::vector<unsigned char>& stored) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    bits = bits << 8 | stored[code[0] == '>' ? i : stored.size() - 1 - i];
  }
  switch (code[1]) {
    case 'b': return bits != 0;
    case 'u': return bits;
    case 'i': {
      const std::size_t unused = 64 - 8 * stored.size();
      return static_cast<std::int64_t>(bits << unused) >> unused;
    }
    default: {
      constexpr std::string_view digits = "0123456789abcdef";
      std::string text = "0x";
      for (std::size_t i = 2 * stored.size(); i-- > 0;) text += digits[bits >> (4 * i) & 0xf];
      return text;
    }
  }
}

}  // namespace ooc_describe
