#include "cli/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ooc/detail/base/units.hpp>
#include <optional>
#include <system_error>

#include "cli/options.hpp"

namespace ooc_run {
namespace {

/// Returns the option of a command that changes a setting.
std::optional<Option> option_for(std::string_view setting, const Command& command) {
  for (const Option& option : options_of(command)) {
    if (option.sets == setting) return option;
  }
  return {};
}

/// Returns the option of the named command. Without a name, that of the first command that has one.
std::optional<Option> option_for(std::string_view setting, std::string_view command) {
  for (const Command& each : commands()) {
    if (!command.empty() && command != each.name) continue;
    if (auto option = option_for(setting, each)) return option;
  }
  return {};
}

/// Returns "--engine threads" or, for a remedy without a value, "--range LO:HI".
std::string with_value(const Option& option, const std::string& value) {
  const std::string text = value.empty() ? std::string(option.argument) : ooc::shell_word(value);
  return fmt::format("--{}{}{}", option.name, text.empty() ? "" : " ", text);
}

/// Returns a number of bytes as the value of an option, rounded up: "264K".
std::string size_word(const std::string& bytes) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
  if (error != std::errc{}) return bytes;
  constexpr std::uint64_t few = 10'000;  // units; for larger numbers, rounding up matters little
  const char* unit = "KMGT";
  value = ooc::detail::divide_up(value, ooc::detail::KiB);
  for (; value > few && unit[1] != 0; ++unit)
    value = ooc::detail::divide_up(value, ooc::detail::KiB);
  return fmt::format("{}{}", value, *unit);
}

ooc::RemedyWords words_for(const ooc::Remedy& remedy, const std::optional<Option>& option,
                           const std::string& path) {
  if (remedy.change == ooc::RemedyAction::convert) {
    return {"convert", fmt::format("it: ooc-run convert {} -o OUT --to {}", ooc::shell_word(path),
                                   ooc::shell_word(remedy.value))};
  }
  if (remedy.change == ooc::RemedyAction::set) return {"use", with_value(*option, remedy.value)};
  if (remedy.change == ooc::RemedyAction::raise && !remedy.value.empty()) {
    return {"use", fmt::format("--{} {} at least", option->name, size_word(remedy.value))};
  }
  const bool is_left_out = remedy.change == ooc::RemedyAction::unset;
  return {is_left_out ? "leave out" : ooc::words_of(remedy).verb,
          fmt::format("--{}", option->name)};
}

}  // namespace

ooc::Error in_terms_of_options(const ooc::Error& error, std::string_view command) {
  ooc::ErrorDetails details = error.details();
  std::erase_if(details.remedies, [&](const ooc::Remedy& remedy) {
    return remedy.change != ooc::RemedyAction::convert && !option_for(remedy.setting, command);
  });
  details.hint = ooc::advice(details, [&](const ooc::Remedy& remedy) {
    return words_for(remedy, option_for(remedy.setting, command), details.path);
  });
  details.remedies.clear();
  return {error.kind(), error.what(), details};
}

}  // namespace ooc_run
