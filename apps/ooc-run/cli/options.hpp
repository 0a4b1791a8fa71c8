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
inline constexpr std::array<std::string_view, 3> format_names{"auto", "npy", "raw"};
inline constexpr std::array<std::string_view, 3> engine_names{"auto", "uring", "threads"};
inline constexpr std::array<std::string_view, 3> direct_names{"auto", "yes", "no"};
inline constexpr std::array<std::string_view, 3> progress_names{"auto", "plain", "none"};
inline constexpr std::array<std::string_view, 12> type_names{"u1", "u2", "u4", "u8", "i1", "i2",
                                                             "i4", "i8", "f2", "f4", "f8", "bf16"};
inline constexpr std::array<std::string_view, 2> nan_names{"propagate", "omit"};
inline constexpr std::array<std::string_view, 3> bin_rule_names{"sqrt", "sturges", "scott"};
inline constexpr std::array<std::string_view, 4> compute_names{"f32", "tf32", "bf16", "f64"};
inline constexpr std::array<std::string_view, 6> pattern_names{"uniform",  "normal", "sequence",
                                                               "constant", "zipf",   "position"};
inline constexpr std::array<std::string_view, 2> picture_endings{".svg", ".png"};
inline constexpr std::array<std::string_view, 5> generated_names{
    "man", "reference", "complete-bash", "complete-zsh", "complete-fish"};

/// Titles of the options in help and manual, in this order.
enum class Group {
  statistics,
  bins,
  product,
  merge,
  target,
  measure,
  input,
  run,
  parts,
  tuning,
  output
};

/// An option, all of it. The parser of the command line, the environment variables, the conflicts,
/// the help, the manual, the shell completions and the advice in errors are all made from the table
/// of options. An option that differs from command to command has several rows; options of one name
/// take the same values in all commands.
struct Option {
  std::string_view name;                       // "chunk": --chunk, OOC_CHUNK
  std::string_view argument{};                 // "SIZE"; empty for a switch; "FILE" for a path
  std::string_view help;                       // one line; {} is replaced by the values
  std::span<const std::string_view> values{};  // their names; of a FILE, its possible endings
  char letter = 0;                             // 'o': -o
  Group group{};
  std::string_view commands{};  // those that have it: "histogram reduce"
  bool rare = false;            // few need it: -h lists only its name

  /// Options that it excludes ("bins range"), and why. One on the command line overrules an
  /// environment variable.
  std::string_view excludes{}, because{};

  /// An option without which it has no meaning, and the value that this one must have, if any.
  /// Without that option, it is refused on the command line, and ignored as an environment
  /// variable, which may be meant for other commands. A command that does not have the other option
  /// always has what it stands for.
  std::string_view needs{}, needs_value{};

  std::string_view sets{};  // setting of the library: "Options::chunk_bytes"
};

/// An option that is given instead of a command.
struct ProgramOption {
  std::string_view word;      // "--version"
  std::string_view argument;  // empty: none
  std::string_view help;
  std::span<const std::string_view> values{};
};

/// A page of `ooc-run help` that is of no command.
struct HelpTopic {
  std::string_view name, summary;
};
inline constexpr HelpTopic tuning_topic{"tuning", "options that few need"};
inline constexpr std::array help_topics{tuning_topic};

/// Another name of a command.
struct CommandAlias {
  std::string_view name, command;
};
inline constexpr std::array command_aliases{CommandAlias{"stats", "reduce"}};

struct OptionGroup {
  std::string_view title;
  std::vector<Option> options;
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
};

std::span<const Command> commands();
std::span<const ProgramOption> program_options();

/// Returns the command of this name, or another name of it; null if there is none.
const Command* command_named(std::string_view name);

/// The same. If there is none, throws Error(usage) with the nearest name.
const Command& find_command(std::string_view name);

/// Returns the other names of a command.
std::vector<std::string_view> aliases_of(const Command& command);

/// Returns all options of a command, also by title.
std::vector<Option> options_of(const Command& command);
std::vector<OptionGroup> groups_of(const Command& command);

/// True if `words` ("bins range") has this one.
bool has_word(std::string_view words, std::string_view word);

/// Returns the help of an option, with the names of its values: "I/O engine: auto, uring, threads".
std::string help_of(const Option& option);
std::string help_of(const ProgramOption& option);

/// Returns "OOC_LOG_BINS" for "log-bins".
std::string environment_name(std::string_view option);

}  // namespace ooc_run
