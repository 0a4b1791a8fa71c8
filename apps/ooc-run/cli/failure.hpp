#pragma once

#include <ooc/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Throws Error(usage).
[[noreturn]] void refuse_usage(const std::string& message, const std::string& hint = {});

/// Returns the error of a command with another hint added.
ooc::Error with_hint(const ooc::Error& error, const std::string& hint,
                     std::string_view command = {});

/// Returns the exception that is being handled as an Error. To be called in a catch block.
ooc::Error current_error();

/// Returns the exit code of the program for a kind of error.
int exit_code_of(ooc::ErrorKind kind);

/// Returns the lines for stderr that describe an error, with its cause and a hint if these are
/// known.
std::string describe_error(const ooc::Error& error);

/// Prints describe_error() to stderr.
void print_error(const ooc::Error& error);

/// Prints an error and ends the process without any clean-up, which would hang: it would join
/// threads that wait for a disk that does not answer. An unfinished output has no name yet and
/// disappears with the process. `exit_code`: by default, that of the error.
[[noreturn]] void end_at_once(const ooc::Error& error, std::optional<int> exit_code = {});

/// Prints the error that ended a command, and returns its exit code. Does not return for an error
/// of a GPU, because CUDA's clean-up at the end of main() might hang or crash: calls end_at_once().
int report_error(const ooc::Error& error);

}  // namespace ooc_run
