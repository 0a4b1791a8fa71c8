#include "help.hpp"

#include <fmt/core.h>

#include <array>
#include <cstddef>

namespace ooc_run {
namespace {

constexpr std::array<std::string_view, 3> examples{
    "ooc-run gen -o test.f32 --size 1G",
    "ooc-run histogram test.f32",
    "ooc-run reduce --json test.f32",
};

constexpr std::string_view sizes_and_environment =
    "Sizes: K M G T and KiB MiB GiB TiB are binary, KB MB GB TB decimal. Types:\n"
    "NumPy's codes and names, with byte order if wanted: >f4, uint16. Endings of raw\n"
    "files count bits, as .u8 .i16 .f32 .bf16; others mean plain bytes. Every option\n"
    "can also be set by an environment variable, OOC_CHUNK for --chunk or\n"
    "OOC_QUIET=1 for --quiet; the command line wins. NO_COLOR is honoured.\n";

constexpr std::string_view exit_codes =
    "Exit codes: 0 done, 1 bug, 2 usage, 3 input not understood, 4 input not\n"
    "readable, 5 input changed while it was read, 6 output, 7 memory, 8 GPU, 9 disk\n"
    "stalled, 10 verification failed, 130/143 interrupted.\n";

/// The names of a group's options in as few lines as hold them.
std::string name_lines(const OptionGroup& group) {
  constexpr std::size_t columns = 80;
  std::string text, line = fmt::format("{:<10}", group.title);
  for (const Option& option : group.options) {
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
  for (const OptionGroup& group : command.groups) {
    if (group.for_experts && help == Help::brief) {
      text += name_lines(group);
      continue;
    }
    std::string_view title = group.title;
    for (const Option& option : group.options) {
      std::string left = option.letter == 0 ? "" : fmt::format("-{}, ", option.letter);
      left += fmt::format("--{} {}", option.name, option.argument);
      text += fmt::format("{:<10} {:<18} {}\n", title, left, option.help);
      title = {};
    }
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
  std::string text = "Commands:\n";
  for (const Command& command : commands()) {
    text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  return text +
         "  help       about a command: ooc-run help histogram\n"
         "\n"
         "  -h         short help, also after a command\n"
         "  --help     long help, with examples\n"
         "  --version  version, and what was compiled in\n";
}

}  // namespace

std::string short_help() {
  return "ooc-run computes on files larger than memory, on GPU or CPU.\n\n"
         "Usage: ooc-run COMMAND FILE... [options]\n\n" +
         command_lines();
}

std::string short_help(const Command& command) {
  return fmt::format("{}  (--help: all of it)\n{}", usage(command),
                     option_lines(command, Help::brief));
}

std::string long_help() {
  return example_lines(examples) + "\n" + short_help() + "\n" + std::string(sizes_and_environment) +
         "\n" + std::string(exit_codes);
}

std::string long_help(const Command& command) {
  return fmt::format("{}\n{}\n\n{}\n\n{}\n{}\n{}", example_lines(command.examples), usage(command),
                     command.description, option_lines(command, Help::full), sizes_and_environment,
                     exit_codes);
}

}  // namespace ooc_run
