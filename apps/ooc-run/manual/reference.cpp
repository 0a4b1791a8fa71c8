#include <fmt/core.h>

#include "cli/conventions.hpp"
#include "manual/generate.hpp"

namespace ooc_run {
namespace {

std::string code_block(std::span<const std::string_view> lines) {
  std::string text = "```console\n";
  for (const std::string_view line : lines) text += fmt::format("$ {}\n", line);
  return text + "```\n";
}

std::string table_head(std::string_view first, std::string_view second) {
  return fmt::format("| {} | {} |\n| --- | --- |\n", first, second);
}

std::string option_rows(const OptionGroup& group) {
  std::string text;
  for (const Option& option : group.options) {
    std::string name = option.letter == 0 ? "" : fmt::format("`-{}`, ", option.letter);
    name += option.argument.empty() ? fmt::format("`--{}`", option.name)
                                    : fmt::format("`--{} {}`", option.name, option.argument);
    text += fmt::format("| {} | {} |\n", name, help_of(option));
  }
  return text;
}

std::string option_tables(const Command& command) {
  std::string text;
  for (const OptionGroup& group : groups_of(command)) {
    text += "\n" + table_head(group.title, "") + option_rows(group);
  }
  return text;
}

std::string chapter(const Command& command) {
  return fmt::format("\n## {}\n\n`ooc-run {} {}`: {}.\n\n{}\n\n{}{}", command.name, command.name,
                     command.synopsis, command.summary, command.description,
                     code_block(command.examples), option_tables(command));
}

std::string list_of_commands() {
  std::string text = table_head("command", "");
  for (const Command& command : commands()) {
    text += fmt::format("| [{}](#{}) | {} |\n", command.name, command.name, command.summary);
  }
  text += "| `help COMMAND` | the long help of a command |\n";
  for (const ProgramOption& option : program_options()) {
    text += fmt::format("| `{}{}{}` | {} |\n", option.word, option.argument.empty() ? "" : " ",
                        option.argument, help_of(option));
  }
  return text;
}

}  // namespace

std::string reference() {
  std::string text = fmt::format(
      "# ooc-run\n\n"
      "<!-- Made by: ooc-run --generate reference -->\n\n"
      "`ooc-run` {}\n\n{}\n{}",
      program_summary, code_block(program_examples()), list_of_commands());
  for (const Command& command : commands()) text += chapter(command);
  for (const Topic& topic : topics())
    text += fmt::format("\n## {}\n\n{}\n", topic.title, topic.text);
  text += "\n## Exit codes\n\n" + table_head("code", "");
  for (const ExitCode& code : exit_codes()) {
    text += fmt::format("| {} | {} |\n", code.code, code.meaning);
  }
  return text;
}

}  // namespace ooc_run
