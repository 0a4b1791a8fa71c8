#pragma once

#include <span>
#include <string_view>

namespace ooc_run {

/// What the program does, as "ooc-run ..." says it.
inline constexpr std::string_view program_summary =
    "computes on files larger than memory, on GPU or CPU.";

/// Where to begin: runnable, one after another.
std::span<const std::string_view> program_examples();

/// A paragraph on what holds for all commands.
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
