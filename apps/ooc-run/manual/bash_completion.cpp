#include <fmt/format.h>

#include <set>
#include <vector>

#include "cli/build_facts.hpp"
#include "manual/generate.hpp"

namespace ooc_run {
namespace {

constexpr std::string_view begin = R"sh(
_ooc_run() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= files=
  COMPREPLY=()
  # bash splits --device=cpu into three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)sh";

constexpr std::string_view end = R"sh(
  if [[ $files ]]; then
    compopt -o default
  elif [[ $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}
complete -F _ooc_run ooc-run
)sh";

/// Returns one option of each name: an option takes the same values in all commands.
std::vector<Option> options_of_all_commands() {
  std::vector<Option> all;
  std::set<std::string_view> seen;
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) {
      if (seen.insert(option.name).second) all.push_back(option);
    }
  }
  return all;
}

std::string names_of_commands() {
  std::string names;
  for (const Command& command : commands()) names += fmt::format("{} ", command.name);
  for (const CommandAlias& alias : command_aliases) names += fmt::format("{} ", alias.name);
  return names;
}

/// Returns the words that may follow "help".
std::string words_of_help() {
  std::string words = names_of_commands();
  for (const HelpTopic& topic : help_topics) words += fmt::format("{} ", topic.name);
  return words;
}

/// Returns the pattern of a case, for example "--output | -o".
std::string label(const Option& option) {
  const std::string letter = option.letter == 0 ? "" : fmt::format(" | -{}", option.letter);
  return fmt::format("--{}{}", option.name, letter);
}

std::string picture_lines(const Option& option) {
  std::string text =
      "\n        compopt -o filenames -o plusdirs\n        mapfile -t COMPREPLY < <(";
  for (const std::string_view ending : option.values) {
    text += fmt::format("compgen -f -X '!*{}' -- \"$word\"; ", ending);
  }
  return text + ")\n        return";
}

/// Returns the cases that complete the value of an option.
std::string value_cases() {
  std::string text, others;
  for (const Option& option : options_of_all_commands()) {
    if (option.argument.empty()) continue;
    const bool is_file = option.argument == "FILE";
    if (!is_file && option.values.empty()) {
      others += (others.empty() ? "" : " | ") + label(option);
      continue;
    }
    text += fmt::format("      {})", label(option));
    if (is_file) {
      text += option.values.empty() ? " files=yes" : picture_lines(option);
    } else {
      text += fmt::format(" words=\"{}\"", fmt::join(option.values, " "));
    }
    text += " ;;\n";
  }
  for (const ProgramOption& option : program_options()) {
    if (option.argument.empty()) continue;
    text += fmt::format("      {}) words=\"{}\" ;;\n", option.word, fmt::join(option.values, " "));
  }
  return text + fmt::format("      {}) return ;;\n", others);
}

std::string option_cases() {
  std::string text;
  for (const Command& command : commands()) {
    std::string words = "-h --help";
    for (const Option& option : options_of(command)) words += fmt::format(" --{}", option.name);
    const bool takes_files = command.files != FileWords::none;
    std::string names(command.name);
    for (const std::string_view alias : aliases_of(command)) names += fmt::format(" | {}", alias);
    text += fmt::format("          {})\n            words=\"{}\"\n", names, words);
    if (takes_files) text += "            [[ $word == -* ]] || files=yes\n";
    text += "            ;;\n";
  }
  return text;
}

std::string program_words() {
  std::string words;
  for (const ProgramOption& option : program_options()) words += fmt::format("{} ", option.word);
  return words;
}

}  // namespace

std::string bash_completion() {
  std::string text =
      fmt::format("# Completion for bash, made by: ooc-run {} --generate complete-bash\n",
                  build_facts::version);
  text += begin;
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n"
      "    words=\"{}help\"\n"
      "    [[ $word != -* ]] || words=\"{}\"\n"
      "  else\n"
      "    case $before in\n"
      "{}"
      "      *)\n"
      "        case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "          help) words=\"{}\" ;;\n"
      "        esac\n"
      "        ;;\n"
      "    esac\n"
      "  fi\n",
      names_of_commands(), program_words(), value_cases(), option_cases(), words_of_help());
  return text + std::string(end.substr(1));
}

}  // namespace ooc_run
