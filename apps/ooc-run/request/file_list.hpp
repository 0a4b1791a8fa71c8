#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace ooc_run {

/// Returns the files of a command line, or those that the list of --files-from names. Throws Error:
/// `usage` if both are given, or the list names none; `input` if it cannot be read.
std::vector<std::string> read_files(const Arguments& arguments);

}  // namespace ooc_run
