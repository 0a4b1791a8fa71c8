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
inline constexpr std::array<std::string_view, 15> format_names{
    "auto",  "npy", "npz",  "safetensors", "zarr", "hdf5",  "fits", "vectors",
    "nifti", "wav", "nrrd", "metaimage",   "envi", "sigmf", "raw"};
inline constexpr std::array<std::string_view, 3> engine_names{"auto", "uring", "threads"};
inline constexpr std::array<std::string_view, 3> direct_names{"auto", "yes", "no"};
inline constexpr std::array<std::string_view, 3> progress_names{"auto", "plain", "none"};
inline constexpr std::array<std::string_view, 12> type_names{"u1", "u2", "u4", "u8", "i1", "i2",
                                                             "i4", "i8", "f2", "f4", "f8", "bf16"};
inline constexpr std::array<std::string_view, 2> nan_names{"propagate", "omit"};
inline constexpr std::array<std::string_view, 2> axis_names{"0", "1"};
inline constexpr std::array<std::string_view, 8> row_value_names{
    "sum", "mean", "min", "max", "argmin", "argmax", "variance", "stddev"};
inline constexpr std::array<std::string_view, 5> bin_rule_names{"sqrt", "sturges", "scott", "fd",
                                                                "auto"};
inline constexpr std::array<std::string_view, 12> quantile_method_names{"linear",
                                                                        "lower",
                                                                        "higher",
                                                                        "nearest",
                                                                        "midpoint",
                                                                        "inverted_cdf",
                                                                        "averaged_inverted_cdf",
                                                                        "interpolated_inverted_cdf",
                                                                        "hazen",
                                                                        "weibull",
                                                                        "median_unbiased",
                                                                        "normal_unbiased"};
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

/// A complete description of an option. The table of options is the source of the command-line
/// parser, the environment variables, the conflicts, the help, the manual, the shell completions
/// and the hints in errors. An option that differs between commands has several rows; options of
/// one name take the same values in all commands.
struct Option {
  std::string_view name;                       // "chunk": --chunk, OOC_CHUNK
  std::string_view argument{};                 // "SIZE"; empty for a switch; "FILE" for a path
  std::string_view help;                       // one line; {} is replaced by the values, if any
  std::span<const std::string_view> values{};  // their names; for a FILE, its allowed extensions
  char letter = 0;                             // 'o': -o
  Group group{};
  std::string_view commands{};  // commands that have it: "histogram reduce"
  bool rare = false;            // -h lists only its name

  /// Options that this one excludes ("bins range"), and the reason. An option on the command line
  /// overrides an environment variable that it excludes.
  std::string_view excludes{}, because{};

  /// The option that this one requires, or several of which it requires one, and the required value
  /// of that option, if any. Without it,
  /// this option is refused on the command line, and ignored as an environment variable, which may
  /// be meant for other commands. If a command does not have the required option, the requirement
  /// is always met.
  std::string_view needs{}, needs_value{};

  std::string_view sets{};  // setting of the library: "Options::chunk_bytes"
};

/// An option that replaces a command.
struct ProgramOption {
  std::string_view word;      // "--version"
  std::string_view argument;  // empty: none
  std::string_view help;
  std::span<const std::string_view> values{};
  bool rare = false;  // not in the short help
};

/// A page of `ooc-run help` that does not belong to a command.
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

/// Returns the command with this name or alias; null if there is none.
const Command* command_named(std::string_view name);

/// Like command_named(), but throws Error(usage) with the nearest name if there is none.
const Command& find_command(std::string_view name);

/// Returns the other names of a command.
std::vector<std::string_view> aliases_of(const Command& command);

/// Return all options of a command, as a list and by title.
std::vector<Option> options_of(const Command& command);
std::vector<OptionGroup> groups_of(const Command& command);

/// True if `words` ("bins range") contains this word.
bool has_word(std::string_view words, std::string_view word);

/// Returns the help of an option, with the names of its values: "I/O engine: auto, uring, threads".
std::string help_of(const Option& option);
std::string help_of(const ProgramOption& option);

/// Returns "OOC_LOG_BINS" for "log-bins".
std::string environment_name(std::string_view option);

}  // namespace ooc_run
