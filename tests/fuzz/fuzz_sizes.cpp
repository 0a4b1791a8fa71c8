// An input is a number as users write one. All parsers must agree on it, and every number must have
// a readable form.

#include <ooc/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "cli/sizes.hpp"
#include "input.hpp"

namespace {

using ooc::detail::fuzz::require;

/// Returns the result of `parse`, or nothing if it refuses the text.
auto attempt(auto parse, std::string_view text) -> std::optional<decltype(parse(text))> {
  try {
    return parse(text);
  } catch (const ooc::Error& error) {
    require(error.kind() == ooc::ErrorKind::usage, "a number is understood, or a wrong usage");
    require(*error.what() != '\0', "a refusal says why");
    return {};
  }
}

void check_digits(std::uint64_t value) {
  std::string grouped = ooc_run::group_digits(std::to_string(value));
  std::erase(grouped, ',');
  require(grouped == std::to_string(value), "groups have all digits");
  const std::string text = ooc_run::format_bytes(value);
  require(text.find("inf") == std::string::npos && text.find("e+") == std::string::npos,
          "every size has a unit in which it is a plain number");
}

void check_sizes(std::string_view text) {
  const auto count = attempt(ooc_run::parse_count, text);
  const auto bytes = attempt(ooc_run::parse_bytes, text);
  const auto shape = attempt(ooc_run::parse_shape, text);
  if (bytes) {
    require(attempt(ooc_run::parse_bytes, std::to_string(*bytes)) == bytes, "it is the same again");
    check_digits(*bytes);
  }
  if (count) {
    require(attempt(ooc_run::parse_count, std::to_string(*count)) == count, "as is a count");
    // The two differ for suffixes, which are binary in sizes, and for "1e6", which is no size.
    const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
    if (digits) require(count == bytes, "plain digits say the same");
  }
  if (count) require(shape == std::vector{*count}, "a shape of one axis is a count");
  if (!shape) return;
  const auto crosses = static_cast<std::size_t>(std::ranges::count(text, 'x'));
  require(shape->size() == crosses + 1, "an x between any two axes");
  std::string again;
  for (const std::uint64_t length : *shape)
    again += (again.empty() ? "" : "x") + std::to_string(length);
  require(attempt(ooc_run::parse_shape, again) == shape, "a shape is the same again");
}

void check_numbers(std::string_view text) {
  const auto real = attempt(ooc_run::parse_real, text);
  if (real) require(!std::isnan(*real), "NaN is no number");
  const auto integer = attempt(ooc_run::parse_integer, text);
  if (!integer) return;
  require(attempt(ooc_run::parse_integer, std::to_string(*integer)) == integer, "as it was");
  require(real == static_cast<double>(*integer), "an integer is a number too");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_sizes(ooc::detail::fuzz::as_text(data, size));
  check_numbers(ooc::detail::fuzz::as_text(data, size));
  return 0;
}
