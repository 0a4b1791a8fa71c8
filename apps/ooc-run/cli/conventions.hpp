#pragma once

#include <span>
#include <string_view>

namespace ooc_run {

/// The purpose of the program in one line, to follow its name.
inline constexpr std::string_view program_summary =
    "computes on files larger than memory, on GPU or CPU.";

/// Returns examples for the first steps. They can be run one after another.
std::span<const std::string_view> program_examples();

/// A paragraph about a convention of all commands.
struct Topic {
  std::string_view title;  // one word
  std::string_view text;
};
std::span<const Topic> topics();

struct ExitCode {
  std::string_view code;  // "2"
  std::string_view meaning;
};
std::span<const ExitCode> exit_codes();

}  // namespace ooc_run
