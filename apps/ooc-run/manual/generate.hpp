#pragma once

#include <string>
#include <string_view>

#include "cli/options.hpp"

namespace ooc_run {

// The output of --generate: the table of options as man pages, Markdown and completion scripts.

/// Returns a man page in roff, of the program or of a command.
std::string man_page();
std::string man_page(const Command& command);

/// Returns the whole help as one page of Markdown.
std::string reference();

// Scripts for command-line completion. They do not start ooc-run.

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// Returns the output that `what` names. `command` may be null. Throws Error(usage) if the name is
/// unknown, or if a command is given and the output covers all commands.
std::string generate(std::string_view what, const Command* command);

}  // namespace ooc_run
