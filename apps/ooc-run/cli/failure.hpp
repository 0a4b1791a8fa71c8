#pragma once

#include <ooc/io/error.hpp>
#include <string>

namespace ooc_run {

/// Throws Error(usage).
[[noreturn]] void refuse_usage(const std::string& message, const std::string& hint = {});

/// The same error, with one hint more.
ooc::Error with_hint(const ooc::Error& error, const std::string& hint);

/// What is being handled now, whatever threw it, as an Error.
ooc::Error current_error();

/// The code with which the program ends after an error of such a cause.
int exit_code_of(ooc::ErrorKind kind);

/// Shows an error on stderr, with its cause and what to do about it, if these are known.
void print_error(const ooc::Error& error);

/// For an error after which nothing can be put in order: threads wait for a disk that does not
/// answer, and would be waited for. What is written has no name yet, and goes with the process.
[[noreturn]] void end_at_once(const ooc::Error& error);

/// Shows the error that a command has ended with, and returns the code for it. Of a GPU that has
/// failed nothing can be put in order either: CUDA would still try to at the end of main(), and
/// might hang or crash there. So this does not return then.
int report_error(const ooc::Error& error);

}  // namespace ooc_run
