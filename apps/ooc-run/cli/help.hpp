#pragma once

#include <string>

#include "cli/options.hpp"

namespace ooc_run {

/// What -h says: fits a screen.
std::string short_help();
std::string short_help(const Command& command);

/// What --help says.
std::string long_help();
std::string long_help(const Command& command);

}  // namespace ooc_run
