#pragma once

#include <string>

#include "cli/options.hpp"

namespace ooc_run {

/// Returns the text of -h, which fits a screen.
std::string short_help();
std::string short_help(const Command& command);

/// Returns the text of --help.
std::string long_help();
std::string long_help(const Command& command);

}  // namespace ooc_run
