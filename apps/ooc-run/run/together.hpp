#pragma once

#include <ooc/error.hpp>
#include <ooc/ranks.hpp>
#include <string>

#include "request/request.hpp"

namespace ooc_run {

// A run that several ranks share: each has the same command line. Rank 0 prints and writes the
// files beside the result.

/// Gives a request to the ranks; null if the program runs alone. Throws Error(usage) for commands
/// and options that they do not share.
void divide(Request& request, ooc::Ranks* ranks);

/// Waits until the run of all ranks is complete. Throws Error if one has failed since.
void leave_after_success(ooc::Ranks& ranks);

/// Tells the others of the error that has ended the run of this rank. Returns true if this one is
/// to print it: one of all ranks does. Does not return if they do not answer.
bool leave_after_failure(ooc::Ranks& ranks, const ooc::Error& error);

/// Returns a text that says which of several ranks it is of. `ranks` may be null.
std::string with_rank(const std::string& text, const ooc::Ranks* ranks);

/// Returns an error that says which rank it is of, unless all ranks have it.
ooc::Error with_rank(const ooc::Error& error, const ooc::Ranks& ranks);

}  // namespace ooc_run
