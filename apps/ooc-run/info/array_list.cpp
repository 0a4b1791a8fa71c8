#include "info/array_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/dtype.hpp>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"

namespace ooc_run {

Json describe_arrays(std::span<const ooc::detail::StoredArray> arrays) {
  Json list = Json::array();
  for (const ooc::detail::StoredArray& array : arrays) {
    const bool is_read = array.why_not.empty();
    list.push_back({{"name", array.name},
                    {"dtype", is_read ? Json(ooc::code_of(array.type)) : Json(nullptr)},
                    {"shape", array.shape},
                    {"offset", array.offset},
                    {"bytes", array.bytes},
                    {"why_not", is_read ? Json(nullptr) : Json("holds " + array.why_not)}});
  }
  return list;
}

std::string list_of_arrays(std::span<const ooc::detail::StoredArray> arrays) {
  constexpr std::size_t most_arrays = 100, most_name = 200;
  std::string text =
      fmt::format("\n  {:>10}  {:<8}  {:<16}  {}\n", "size", "type", "shape", "name");
  for (const ooc::detail::StoredArray& array : arrays.first(std::min(arrays.size(), most_arrays))) {
    const std::string type = array.type.is_bool ? "bool" : describe_type(array.type);
    text += fmt::format(
        "  {:>10}  {:<8}  {:<16}  {}{}\n", format_decimal_bytes(static_cast<double>(array.bytes)),
        array.why_not.empty() ? type : "-", array.shape.empty() ? "-" : shape_text(array.shape),
        printable(array.name.substr(0, most_name)),
        array.why_not.empty() ? "" : ": not read, " + printable(array.why_not));
  }
  if (arrays.size() > most_arrays)
    text += fmt::format("  and {} more\n", arrays.size() - most_arrays);
  return text;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t length : shape) {
    text += (text.empty() ? "" : " x ") + group_digits(std::to_string(length));
  }
  return text;
}

}  // namespace ooc_run
