#include "cli/help.hpp"

#include <fmt/core.h>

#include <cstddef>

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

/// Returns the names of the options that few need, in as few lines as possible.
std::string rare_lines(const Command& command) {
  std::string text, line = fmt::format("{:<10}", "rarely");
  for (const Option& option : options_of(command)) {
    if (!option.rare) continue;
    if (line.size() + std::string_view(" --").size() + option.name.size() > columns) {
      text += line + "\n";
      line = fmt::format("{:<10}", "");
    }
    line += fmt::format(" --{}", option.name);
  }
  return text + line + "\n";
}

enum class Help { brief, full };

std::string option_lines(const Command& command, Help help) {
  std::string text;
  bool any_rare = false;
  for (const OptionGroup& group : groups_of(command)) {
    std::string_view title = group.title;
    for (const Option& option : group.options) {
      any_rare |= option.rare;
      if (option.rare && help == Help::brief) continue;
      std::string left = option.letter == 0 ? "" : fmt::format("-{}, ", option.letter);
      left += fmt::format("--{} {}", option.name, option.argument);
      text += fmt::format("{:<10} {:<17} {}\n", title, left, help_of(option));
      title = {};
    }
  }
  return any_rare && help == Help::brief ? text + rare_lines(command) : text;
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
  std::string text = "Commands:\n";
  for (const Command& command : commands()) {
    text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  text += "  help       about a command: ooc-run help histogram\n\n";
  for (const ProgramOption& option : program_options()) {
    text += fmt::format("  {:<10} {}\n", option.word, help_of(option));
  }
  return text;
}

}  // namespace

std::string short_help() {
  return fmt::format("ooc-run {}\n\n", program_summary) +
         "Usage: ooc-run COMMAND FILE... [options]\n\n" + command_lines();
}

std::string short_help(const Command& command) {
  return fmt::format("{}  (--help: full help)\n{}", usage(command),
                     option_lines(command, Help::brief));
}

std::string long_help() {
  return fmt::format("{}\n{}\n{}", example_lines(program_examples()), short_help(), topic_lines());
}

std::string long_help(const Command& command) {
  return fmt::format("{}\n{}\n\n{}\n\n{}\n{}", example_lines(command.examples), usage(command),
                     command.description, option_lines(command, Help::full), topic_lines());
}

}  // namespace ooc_run
