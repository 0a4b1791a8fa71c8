#include <fmt/format.h>

#include "cli/build_facts.hpp"
#include "manual/generate.hpp"

namespace ooc_run {
namespace {

std::string quote(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "'";
}

/// Returns a line that offers words if `condition` is true.
std::string line(std::string_view condition, std::string_view rest, std::string_view help) {
  return fmt::format("complete -c ooc-run -n {} {} -d {}\n", quote(condition), rest, quote(help));
}

/// Returns the flags that complete a value. -x: a value that is not a file; -r -F: a file.
std::string value_of(std::string_view argument, std::span<const std::string_view> values) {
  if (argument.empty()) return {};
  if (argument == "FILE") return " -r -F";
  if (values.empty()) return " -x";
  return fmt::format(" -x -a '{}'", fmt::join(values, " "));
}

std::string command_lines(const Command& command) {
  std::string condition = fmt::format("__fish_seen_subcommand_from {}", command.name);
  for (const std::string_view alias : aliases_of(command)) condition += fmt::format(" {}", alias);
  std::string text;
  if (command.files != FileWords::none) {
    text += fmt::format("complete -c ooc-run -n {} -F\n", quote(condition));
  }
  for (const Option& option : options_of(command)) {
    const std::string letter = option.letter == 0 ? "" : fmt::format("-s {} ", option.letter);
    text += line(
        condition,
        fmt::format("{}-l {}{}", letter, option.name, value_of(option.argument, option.values)),
        help_of(option));
  }
  return text + line(condition, "-s h -l help", "help");
}

}  // namespace

std::string fish_completion() {
  constexpr std::string_view first = "__fish_is_first_token";
  std::string text = fmt::format(
      "# Completion for fish, made by: ooc-run {} --generate complete-fish\n\n"
      "complete -c ooc-run -f\n",
      build_facts::version);
  for (const ProgramOption& option : program_options()) {
    const bool is_letter = option.word.substr(0, 2) != "--";
    text +=
        line(first,
             fmt::format("-{} {}{}", is_letter ? 's' : 'l', option.word.substr(is_letter ? 1 : 2),
                         value_of(option.argument, option.values)),
             help_of(option));
  }
  std::string names;
  for (const Command& command : commands()) {
    text += line(first, fmt::format("-a {}", command.name), command.summary);
    names += fmt::format("{} ", command.name);
  }
  for (const CommandAlias& alias : command_aliases) {
    text += line(first, fmt::format("-a {}", alias.name),
                 "another name of " + std::string(alias.command));
    names += fmt::format("{} ", alias.name);
  }
  text += line(first, "-a help", "about a command");
  text += line("__fish_seen_subcommand_from help", fmt::format("-a '{}'", names), "command");
  for (const HelpTopic& topic : help_topics) {
    text +=
        line("__fish_seen_subcommand_from help", fmt::format("-a {}", topic.name), topic.summary);
  }
  for (const Command& command : commands()) text += command_lines(command);
  return text;
}

}  // namespace ooc_run
