#include "cli/help.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "cli/conventions.hpp"
#include "cli/terminal.hpp"

namespace ooc_run {
namespace {

constexpr std::size_t columns = 80;

/// Returns the conventions of all commands and the exit codes.
std::string topic_lines() {
  std::string text;
  for (const Topic& topic : topics()) {
    text += wrap(fmt::format("{:<12} ", fmt::format("{}:", topic.title)), topic.text, columns);
  }
  std::string codes;
  for (const ExitCode& code : exit_codes()) {
    codes += fmt::format("{}{} {}", codes.empty() ? "" : ", ", code.code, code.meaning);
  }
  return text + wrap("Exit codes:  ", codes + ".", columns);
}

/// Returns the names of the rare options, in as few lines as possible.
std::string rare_lines(const Command& command) {
  std::string names;
  for (const Option& option : options_of(command)) {
    if (option.rare) names += fmt::format("{}--{}", names.empty() ? "" : " ", option.name);
  }
  if (names.empty()) return {};
  return wrap(fmt::format("{:<10} ", "rarely"), names + " (ooc-run help tuning)", columns);
}

std::string option_line(std::string_view title, const Option& option) {
  std::string left = option.letter == 0 ? "" : fmt::format("-{}, ", option.letter);
  left += fmt::format("--{} {}", option.name, option.argument);
  return fmt::format("{:<10} {:<17} {}\n", title, left, help_of(option));
}

std::string option_lines(const Command& command) {
  std::string text;
  for (const OptionGroup& group : groups_of(command)) {
    std::string_view title = group.title;
    for (const Option& option : group.options) {
      if (option.rare) continue;
      text += option_line(title, option);
      title = {};
    }
  }
  return text + rare_lines(command);
}

/// Returns the names of commands or, if they fill more than a line, of the others.
std::string title_of(std::string_view names) {
  constexpr std::size_t most_columns = 79;
  if (names.size() <= most_columns) return std::string(names);
  const std::string padded = fmt::format(" {} ", names);
  std::string title = "all but";
  for (const Command& command : commands()) {
    const bool is_named = padded.find(fmt::format(" {} ", command.name)) != std::string::npos;
    if (!is_named) title += fmt::format(" {}", command.name);
  }
  return title;
}

/// Returns the options for which `shows` is true, under the names of their commands.
std::string sections(const std::function<bool(const Option&)>& shows) {
  std::map<std::string_view, std::string> lines;  // by commands
  std::vector<std::string_view> order;
  for (const Command& command : commands()) {
    for (const OptionGroup& group : groups_of(command)) {
      for (const Option& option : group.options) {
        if (!option.commands.starts_with(command.name) || !shows(option)) continue;
        const auto [section, is_new] = lines.try_emplace(option.commands);
        if (is_new) order.push_back(option.commands);
        section->second += option_line(group.title, option);
      }
    }
  }
  std::string text;
  for (const std::string_view each : order) {
    text += fmt::format("\n{}:\n{}", title_of(each), lines[each]);
  }
  return text;
}

std::string example_lines(std::span<const std::string_view> lines) {
  std::string text = "Examples:\n";
  for (const std::string_view line : lines) text += fmt::format("  {}\n", line);
  return text;
}

std::string usage(const Command& command) {
  return fmt::format("Usage: ooc-run {} {}", command.name, command.synopsis);
}

std::string command_lines() {
  std::string text;
  for (const Command& command : commands()) {
    text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  text += "  help       a command or an option: help --bins; rare options: help tuning\n\n";
  // The options of the program in few lines, so that the short help fits a screen.
  text +=
      "  -h         short help, also after a command; --help: long, with examples\n"
      "  --version  version, and what was compiled in; --generate: man, completion\n";
  return text;
}

}  // namespace

std::string short_help() {
  return fmt::format("ooc-run {}\n", program_summary) +
         "Usage: ooc-run COMMAND FILE... [options]\n\n" + command_lines();
}

std::string short_help(const Command& command) {
  return fmt::format("{}  (--help: full help)\n{}", usage(command), option_lines(command));
}

std::string long_help() {
  return fmt::format("{}\n{}\n{}", example_lines(program_examples()), short_help(), topic_lines());
}

std::string long_help(const Command& command) {
  return fmt::format("{}\n{}\n\n{}\n\n{}\n{}", example_lines(command.examples), usage(command),
                     command.description, option_lines(command),
                     "Sizes, types, environment variables, exit codes: ooc-run help.\n");
}

std::string option_help(std::string_view word) {
  const bool is_letter = word.size() == 2 && word.front() == '-';
  if (word.starts_with("--")) word.remove_prefix(2);
  std::string_view name;
  std::string text = sections([&](const Option& option) {
    const bool is_this = is_letter ? option.letter == word.back() : option.name == word;
    if (is_this) name = option.name;
    return is_this;
  });
  if (text.empty()) return {};
  return fmt::format("The commands that have --{}:\n{}\nIn the environment: {}\n", name, text,
                     environment_name(name));
}

std::string tuning_help() {
  return "Options that few need, and the commands that have them:\n" +
         sections([](const Option& option) { return option.rare; });
}

}  // namespace ooc_run
