// An input is the name of an element type. A name that is understood must mean the same as the code
// of its type.

#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <optional>

#include "input.hpp"

namespace {

std::optional<ooc::DType> parse(std::string_view text) {
  try {
    return ooc::parse_dtype(text);
  } catch (const ooc::Error& error) {
    ooc::detail::fuzz::require(error.kind() == ooc::ErrorKind::usage,
                               "a type is known, or a wrong usage");
    const ooc::ErrorDetails& details = error.details();
    ooc::detail::fuzz::require(!details.hint.empty() || !details.why.empty(),
                               "the nearest name is said, or all of them");
    return {};
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ooc::detail::fuzz::require;
  const std::string_view text = ooc::detail::fuzz::as_text(data, size);
  if (const auto type = parse(text)) {
    require(parse(ooc::code_of(*type)) == type, "a code means the type it was made for");
    const auto by_name = parse(ooc::name_of(type->element));
    require(by_name && by_name->element == type->element, "so does a long name");
  }
  if (const auto type = ooc::type_of_ending(text)) {
    require(parse(ooc::name_of(*type)) == ooc::DType{*type, false}, "an ending names a type");
  }
  return 0;
}
