#include <fmt/format.h>

#include "cli/build_facts.hpp"
#include "manual/generate.hpp"

namespace ooc_run {
namespace {

/// Escapes text for single quotes, and the characters that _arguments and _describe interpret.
std::string zsh_escape(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

/// Returns the specification that completes an option's value: ":E:(auto uring threads)".
std::string value_of(const Option& option) {
  if (option.argument.empty()) return {};
  std::string action = " ";
  if (option.argument == "FILE") {
    action = "_files";
    std::string_view bar = " -g \"*(";
    for (const std::string_view ending : option.values) {
      action += fmt::format("{}{}", bar, ending);
      bar = "|";
    }
    if (!option.values.empty()) action += ")\"";
  } else if (!option.values.empty()) {
    action = fmt::format("({})", fmt::join(option.values, " "));
  }
  return fmt::format(":{}:{}", zsh_escape(option.argument), action);
}

std::string option_line(const Option& option) {
  const std::string name = fmt::format("--{}{}", option.name, option.argument.empty() ? "" : "=");
  const std::string rest = fmt::format("[{}]{}", zsh_escape(help_of(option)), value_of(option));
  if (option.letter == 0) return fmt::format("            '{}{}' \\\n", name, rest);
  const std::string_view value_may_adjoin = option.argument.empty() ? "" : "+";
  return fmt::format("            '(-{0} --{1})'{{-{0}{2},{3}}}'{4}' \\\n", option.letter,
                     option.name, value_may_adjoin, name, rest);
}

std::string_view files_of(const Command& command) {
  switch (command.files) {
    case FileWords::none: return "";
    case FileWords::perhaps_one: return " '1:FILE:_files'";
    case FileWords::some: return " '*:FILE:_files'";
  }
  return "";
}

std::string command_case(const Command& command) {
  std::string names(command.name);
  for (const std::string_view alias : aliases_of(command)) names += fmt::format("|{}", alias);
  std::string text = fmt::format("        {})\n          _arguments \\\n", names);
  for (const Option& option : options_of(command)) text += option_line(option);
  return text +
         fmt::format("            '(-h --help)'{{-h,--help}}'[help]'{} ;;\n", files_of(command));
}

}  // namespace

std::string zsh_completion() {
  std::string text = fmt::format(
      "#compdef ooc-run\n"
      "# Completion for zsh, made by: ooc-run {} --generate complete-zsh\n\n"
      "_ooc-run() {{\n"
      "  local curcontext=$curcontext state line\n"
      "  local -a commands=(\n",
      build_facts::version);
  for (const Command& command : commands()) {
    text += fmt::format("    '{}:{}'\n", command.name, zsh_escape(command.summary));
  }
  for (const CommandAlias& alias : command_aliases) {
    text += fmt::format("    '{}:another name of {}'\n", alias.name, alias.command);
  }
  text += "    'help:about a command'\n  )\n  _arguments -C \\\n";
  for (const ProgramOption& option : program_options()) {
    text += fmt::format("    '(- *){}[{}]", option.word, zsh_escape(help_of(option)));
    if (!option.argument.empty()) {
      text += fmt::format(":{}:({})", option.argument, fmt::join(option.values, " "));
    }
    text += "' \\\n";
  }
  text +=
      "    '1: :->command' '*:: :->words'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    words)\n"
      "      case $words[1] in\n";
  for (const Command& command : commands()) text += command_case(command);
  std::string topics;
  for (const HelpTopic& topic : help_topics) {
    topics += fmt::format(" '{}:{}'", topic.name, zsh_escape(topic.summary));
  }
  return text +
         "        help)\n"
         "          commands=(${commands:#help:*}" +
         topics +
         ")\n"
         "          _describe command commands ;;\n"
         "      esac ;;\n"
         "  esac\n"
         "}\n\n"
         "_ooc-run \"$@\"\n";
}

}  // namespace ooc_run
