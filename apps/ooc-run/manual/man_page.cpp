#include <fmt/core.h>

#include "cli/build_facts.hpp"
#include "cli/conventions.hpp"
#include "manual/generate.hpp"

namespace ooc_run {
namespace {

/// Escapes text for roff, so that text copied from a page has the original characters.
std::string roff_escape(std::string_view text) {
  std::string escaped;
  bool begins = true;  // at the beginning of a line, a dot would start a request
  for (const char letter : text) {
    if (begins && letter == '.') escaped += "\\&";
    begins = letter == '\n';
    switch (letter) {
      case '\\': escaped += "\\e"; break;
      case '-': escaped += "\\-"; break;
      case '\'': escaped += "\\(aq"; break;
      case '~': escaped += "\\(ti"; break;
      default: escaped += letter;
    }
  }
  return escaped;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& letter : upper) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return upper;
}

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", roff_escape(text));
}

std::string section(std::string_view title) {
  return fmt::format(".SH {}\n", upper_case(title));
}

/// Returns a tagged paragraph: a term and its meaning.
std::string entry(std::string_view term, std::string_view argument, std::string_view meaning) {
  std::string text = ".TP\n" + std::string(term);
  if (!argument.empty()) text += fmt::format(" \\fI{}\\fR", roff_escape(argument));
  return text + "\n" + roff_escape(meaning) + "\n";
}

std::string beginning(std::string_view name, std::string_view summary, std::string_view synopsis) {
  return fmt::format(
      ".TH {} 1 \"\" \"ooc-run {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n"
      ".SH SYNOPSIS\n{}\n",
      upper_case(roff_escape(name)), build_facts::version, roff_escape(name), roff_escape(summary),
      synopsis);
}

std::string page_of(const Command& command) {
  return fmt::format("ooc-run-{}", command.name);
}

std::string options_section(const Command& command) {
  std::string text = section("options");
  for (const OptionGroup& group : groups_of(command)) {
    text += fmt::format(".SS {}\n", roff_escape(group.title));
    for (const Option& option : group.options) {
      std::string term = option.letter == 0 ? "" : fmt::format("\\fB\\-{}\\fR, ", option.letter);
      term += bold(fmt::format("--{}", option.name));
      text += entry(term, option.argument, help_of(option));
    }
  }
  return text;
}

std::string examples_section(std::span<const std::string_view> examples) {
  std::string text = section("examples") + ".EX\n";
  for (const std::string_view example : examples) text += roff_escape(example) + "\n";
  return text + ".EE\n";
}

std::string conventions_sections() {
  std::string text;
  for (const Topic& topic : topics()) text += section(topic.title) + roff_escape(topic.text) + "\n";
  text += section("exit status");
  for (const ExitCode& code : exit_codes()) text += entry(bold(code.code), "", code.meaning);
  return text;
}

/// Returns the section with the names of all pages but `mine`.
std::string see_also(std::string_view mine) {
  std::string text = section("see also");
  if (mine != "ooc-run") text += ".BR ooc\\-run (1),\n";
  for (const Command& command : commands()) {
    if (page_of(command) != mine)
      text += fmt::format(".BR {} (1),\n", roff_escape(page_of(command)));
  }
  text.erase(text.size() - std::string_view(",\n").size());
  return text + "\n";
}

}  // namespace

std::string man_page() {
  const std::string summary(program_summary.substr(0, program_summary.size() - 1));
  std::string text = beginning(
      "ooc-run", summary, bold("ooc-run") + " \\fICOMMAND\\fR [\\fIFILE\\fR...] [\\fIoptions\\fR]");
  text += section("commands");
  for (const Command& command : commands()) {
    text += entry(bold(command.name), "", command.summary);
  }
  text += entry(bold("help"), "COMMAND", "the long help of a command");
  text += section("options");
  for (const ProgramOption& option : program_options()) {
    text += entry(bold(option.word), option.argument, help_of(option));
  }
  text += conventions_sections() + examples_section(program_examples());
  return text + see_also("ooc-run");
}

std::string man_page(const Command& command) {
  const std::string name = page_of(command);
  return beginning(name, command.summary,
                   fmt::format("{} {}", bold(fmt::format("ooc-run {}", command.name)),
                               roff_escape(command.synopsis))) +
         section("description") + roff_escape(command.description) + "\n" +
         options_section(command) + conventions_sections() + examples_section(command.examples) +
         see_also(name);
}

}  // namespace ooc_run
