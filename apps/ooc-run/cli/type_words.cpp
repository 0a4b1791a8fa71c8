#include "cli/type_words.hpp"

#include <fmt/core.h>

#include <ooc/error.hpp>
#include <string_view>
#include <type_traits>

#include "cli/terminal.hpp"

namespace ooc_run {

std::string describe_type(const ooc::DType& type) {
  if (type.is_struct()) return printable(ooc::code_of(type));  // fields may have any names
  return fmt::format("{}{}", ooc::name_of(type.element), type.swapped ? ", bytes swapped" : "");
}

std::string dtype_word(const ooc::DType& type) {
  const std::string code = ooc::code_of(type);
  return code.front() == '>' || type.is_struct() ? ooc::shell_word(code) : code.substr(1);
}

bool is_float(ooc::ElementType type) {
  return ooc::visit(type, []<class T>(std::type_identity<T>) { return ooc::is_floating<T>; });
}

std::optional<ooc::DType> type_meant_by_ending(const std::filesystem::path& path) {
  const std::string ending = ooc::ending_of(path);
  constexpr std::size_t shortest = 3;  // ".f8": one letter, as in ".d", has other meanings
  if (ending.size() < shortest) return {};
  try {
    return ooc::parse_dtype(std::string_view(ending).substr(1));
  } catch (const ooc::Error&) {
    return {};
  }
}

}  // namespace ooc_run
