#pragma once

#include <string>
#include <string_view>

#include "cli/options.hpp"

namespace ooc_run {

/// Returns the text of -h, which fits a screen.
std::string short_help();
std::string short_help(const Command& command);

/// Returns the text of --help. The text for a command leaves out the rare options, which are in
/// tuning_help(), and the conventions of all commands, which are in the text for the program.
std::string long_help();
std::string long_help(const Command& command);

/// Returns the help of all commands on an option: "--bins", "-o" or "bins". Empty if none has it.
std::string option_help(std::string_view word);

/// Returns the rare options of all commands, under the names of the commands that have them.
std::string tuning_help();

}  // namespace ooc_run
