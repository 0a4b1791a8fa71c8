#pragma once

#include <string>
#include <string_view>

#include "cli/options.hpp"

namespace ooc_run {

// What --generate prints: the table of options in the languages of others.

/// A man page, in roff: of the program or of a command.
std::string man_page();
std::string man_page(const Command& command);

/// All of the help as one page of Markdown.
std::string reference();

// Scripts that complete command lines. They ask ooc-run for nothing when they run.

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// The one of these that `what` names; `command` may be null. Throws Error(usage) for names that
/// are not known, and for a command where none is described alone.
std::string generate(std::string_view what, const Command* command);

}  // namespace ooc_run
