#include "result/json.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ooc/detail/base/utf8.hpp>
#include <string_view>
#include <utility>

namespace ooc_run {
namespace {

/// JSON integers may have any length, but nlohmann-json supports only 64 bits. Longer ones are
/// stored as strings that begin with NUL, which no argument, path or message can contain.
constexpr char long_integer_mark = '\0';

// Lists pass through it as its binary values, which JSON does not have, of these types.
template <class T>
constexpr std::uint64_t list_type = std::is_same_v<T, double>        ? 'f'
                                    : std::is_same_v<T, ooc::int128> ? 'i'
                                                                     : 'u';

template <class T>
Json list_of(std::span<const T> values) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  return Json::binary({bytes, bytes + values.size_bytes()}, list_type<T>);
}

/// Returns the text of a value that is no object, array or list.
std::string leaf(const Json& json) {
  if (!json.is_string()) return json.dump();
  const auto& text = json.get_ref<const std::string&>();
  if (text.starts_with(long_integer_mark)) return text.substr(1);
  return Json(ooc::detail::lossless_utf8(text)).dump(-1, ' ', true);  // paths need not be UTF-8
}

template <class T>
void print_list(TextStream& out, const Json::binary_t& list) {
  out.add("[");
  for (std::size_t at = 0; at < list.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, list.data() + at, sizeof(T));
    if (at != 0) out.add(",");
    out.add(value);
  }
  out.add("]");
}

void append_list(Document& document, Json::binary_t& list) {
  const auto kept = std::make_shared<const Json::binary_t>(std::move(list));
  document.add([kept](TextStream& out) {
    if (kept->subtype() == list_type<double>) return print_list<double>(out, *kept);
    if (kept->subtype() == list_type<ooc::int128>) return print_list<ooc::int128>(out, *kept);
    print_list<std::uint64_t>(out, *kept);
  });
}

void append(Document& document, Json& json) {
  if (json.is_binary()) return append_list(document, json.get_binary());
  if (!json.is_structured()) return document.add(leaf(json));
  document.add(json.is_object() ? "{" : "[");
  std::string_view comma;
  for (const auto& [key, value] : json.items()) {
    document.add(std::exchange(comma, ","));
    if (json.is_object()) document.add(leaf(key) + ":");
    append(document, value);
  }
  document.add(json.is_object() ? "}" : "]");
}

}  // namespace

Json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json json_number(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

Json json_integer(ooc::int128 value) {
  using Signed = std::numeric_limits<std::int64_t>;
  using Unsigned = std::numeric_limits<std::uint64_t>;
  if (value >= 0 && value <= Unsigned::max()) return static_cast<std::uint64_t>(value);
  if (value < 0 && value >= Signed::min()) return static_cast<std::int64_t>(value);
  return long_integer_mark + ooc::to_string(value);
}

Json json_number(const ooc::Scalar& value) {
  if (const auto* integer = std::get_if<ooc::int128>(&value)) return json_integer(*integer);
  if (const auto* real = std::get_if<double>(&value)) return json_number(*real);
  return nullptr;
}

Json json_list(std::span<const double> values) {
  return list_of(values);
}

Json json_list(std::span<const std::uint64_t> values) {
  return list_of(values);
}

Json json_list(std::span<const ooc::int128> values) {
  return list_of(values);
}

template <class T>
std::vector<T> numbers_in(const Json& list) {
  const Json::binary_t& bytes = list.get_binary();
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

template std::vector<double> numbers_in(const Json& list);
template std::vector<std::uint64_t> numbers_in(const Json& list);

std::string text_of(const Json& value) {
  if (value.is_string() && !value.get_ref<const std::string&>().starts_with(long_integer_mark)) {
    return value.get<std::string>();
  }
  Document document;
  append_json(document, value);
  return document.text();
}

void append_json(Document& document, Json json) {
  append(document, json);
}

}  // namespace ooc_run
