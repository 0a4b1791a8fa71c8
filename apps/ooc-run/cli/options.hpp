#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

// What values are called, in the order in which parse functions have the values themselves.
inline constexpr std::array<std::string_view, 3> device_names{"auto", "cpu", "cuda"};  // or cuda:N
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

/// A row of the table from which the command line, the environment variables, the help, the manual
/// and the completion of shells come. Commands that have an option of the same name take the same
/// values for it.
struct Option {
  std::string_view name;      // "chunk": --chunk, OOC_CHUNK
  std::string_view argument;  // "SIZE"; empty for a switch; "FILE" is the name of one
  std::string_view help;      // fits a line; {} stands for the values
  std::span<const std::string_view> values{};  // by name; of a FILE, the endings that it may have
  char letter = 0;                             // 'o': -o
};

/// A word that stands where a command else does.
struct ProgramOption {
  std::string_view word;      // "--version"
  std::string_view argument;  // empty: none
  std::string_view help;
  std::span<const std::string_view> values{};
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

/// An option that has no meaning without another. On the command line it is refused then; a
/// variable of the environment is ignored, for it may be meant for other commands.
struct Requirement {
  std::string_view option, other;
  std::string_view value{};  // of the other; empty: any
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
std::span<const ProgramOption> program_options();

/// Throws Error(usage), with the nearest name, for a command that there is not.
const Command& find_command(std::string_view name);

/// All options of a command.
std::vector<Option> options_of(const Command& command);

/// What help says of an option, with the names of its values: "what reads: auto, uring, threads".
std::string help_of(const Option& option);
std::string help_of(const ProgramOption& option);

/// "OOC_LOG_BINS" for "log-bins".
std::string environment_name(std::string_view option);

}  // namespace ooc_run
