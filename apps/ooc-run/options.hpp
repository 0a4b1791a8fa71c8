#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

/// A row of the table from which the command line, the environment variables and the help come.
struct Option {
  std::string_view name;      // "chunk": --chunk, OOC_CHUNK
  std::string_view argument;  // "SIZE"; empty for a switch
  std::string_view help;      // fits a line
  char letter = 0;            // 'o': -o
};

struct OptionGroup {
  std::string_view title;
  std::span<const Option> options;
  bool for_experts = false;  // -h only names them
};

/// Two options of which a run takes one at most. One on the command line wins against a variable.
struct Exclusion {
  std::string_view option, other;
  std::string_view hint;
};

/// An option that says nothing without another: a word is refused then, a variable is for other
/// runs.
struct Requirement {
  std::string_view option, other;
};

/// What may follow a command besides options.
enum class FileWords { none, perhaps_one, some };

struct Command {
  std::string_view name;
  std::string_view synopsis;  // what follows the name: "FILE... [options]"
  std::string_view summary;   // one line
  FileWords files = FileWords::none;
  std::span<const std::string_view> examples;  // runnable
  std::string_view description;                // for --help
  std::span<const OptionGroup> groups;
  std::span<const Exclusion> exclusions{};
  std::span<const Requirement> requirements{};
};

std::span<const Command> commands();

/// Throws Error(usage), with the nearest name, for a command that there is not.
const Command& find_command(std::string_view name);

/// All options of a command.
std::vector<Option> options_of(const Command& command);

/// "OOC_LOG_BINS" for "log-bins".
std::string environment_name(std::string_view option);

}  // namespace ooc_run
