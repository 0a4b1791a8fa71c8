#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

// Names of the values of options. Parse functions list the values in the same order.
inline constexpr std::array<std::string_view, 4> device_names{"auto", "cpu", "cuda",
                                                              "all"};  // or cuda:N,...
inline constexpr std::array<std::string_view, 3> engine_names{"auto", "uring", "threads"};
inline constexpr std::array<std::string_view, 3> direct_names{"auto", "yes", "no"};
inline constexpr std::array<std::string_view, 3> progress_names{"auto", "plain", "none"};
inline constexpr std::array<std::string_view, 2> nan_names{"propagate", "omit"};
inline constexpr std::array<std::string_view, 4> compute_names{"f32", "tf32", "bf16", "f64"};
inline constexpr std::array<std::string_view, 6> pattern_names{"uniform",  "normal", "sequence",
                                                               "constant", "zipf",   "position"};
inline constexpr std::array<std::string_view, 2> picture_endings{".svg", ".png"};
inline constexpr std::array<std::string_view, 5> generated_names{
    "man", "reference", "complete-bash", "complete-zsh", "complete-fish"};

/// An option. The parser of the command line, the environment variables, the help, the manual and
/// the shell completions are all made from this table. Options of several commands that have the
/// same name take the same values.
struct Option {
  std::string_view name;                       // "chunk": --chunk, OOC_CHUNK
  std::string_view argument;                   // "SIZE"; empty for a switch; "FILE" for a path
  std::string_view help;                       // one line; {} is replaced by the values
  std::span<const std::string_view> values{};  // their names; of a FILE, its possible endings
  char letter = 0;                             // 'o': -o
};

/// An option that is given instead of a command.
struct ProgramOption {
  std::string_view word;      // "--version"
  std::string_view argument;  // empty: none
  std::string_view help;
  std::span<const std::string_view> values{};
};

struct OptionGroup {
  std::string_view title;
  std::span<const Option> options;
  bool for_experts = false;  // -h lists only their names
};

/// Two options that exclude each other. One on the command line overrules an environment variable.
struct Exclusion {
  std::string_view option, other;
  std::string_view hint;
};

/// An option that has no meaning without another. Without that one, it is refused on the command
/// line, and ignored as an environment variable, which may be meant for other commands.
struct Requirement {
  std::string_view option, other;
  std::string_view value{};  // of the other; empty: any
};

/// Number of files that a command takes.
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
std::span<const ProgramOption> program_options();

/// Returns the command of this name. If there is none, throws Error(usage) with the nearest name.
const Command& find_command(std::string_view name);

/// Returns all options of a command.
std::vector<Option> options_of(const Command& command);

/// Returns the help of an option, with the names of its values: "I/O engine: auto, uring, threads".
std::string help_of(const Option& option);
std::string help_of(const ProgramOption& option);

/// Returns "OOC_LOG_BINS" for "log-bins".
std::string environment_name(std::string_view option);

}  // namespace ooc_run
