#pragma once

#include <functional>
#include <memory>
#include <ooc/error.hpp>
#include <ooc/ranks.hpp>
#include <string>

#include "request/request.hpp"

namespace ooc_run {

// A run that several ranks share: each has the same command line. Rank 0 prints and writes the
// files beside the result.

/// Returns the processes that share the runs of the program. Throws Error.
using Meet = std::function<std::unique_ptr<ooc::Ranks>()>;

/// Meets the other ranks. MPI waits for ever for a process that has stopped, so after the timeout,
/// and not before 15 s, the process ends with an error.
std::unique_ptr<ooc::Ranks> meet_in_time(const Meet& meet, double timeout);

/// Destroys the ranks, which MPI waits for. After the timeout the process ends without that.
void close_in_time(std::unique_ptr<ooc::Ranks> ranks, double timeout, int exit_code);

/// Gives a request to the ranks; null if the program runs alone. Throws Error(usage) for commands
/// and options that they do not share.
void divide(Request& request, ooc::Ranks* ranks);

/// Waits until the run of all ranks is complete. Throws Error if one has failed since.
void leave_after_success(ooc::Ranks& ranks);

/// The duties of a rank whose run has failed.
struct Farewell {
  bool prints = true;       // the error: one of all ranks does
  bool is_complete = true;  // all have left. Else others may hang, and MPI with them
};

/// Tells the others of the error that has ended the run of this rank.
Farewell leave_after_failure(ooc::Ranks& ranks, const ooc::Error& error);

/// Returns a text that says which of several ranks it is of. `ranks` may be null.
std::string with_rank(const std::string& text, const ooc::Ranks* ranks);

/// Returns an error that says which rank it is of, unless all ranks have it. `ranks` may be null.
ooc::Error with_rank(const ooc::Error& error, const ooc::Ranks* ranks);

}  // namespace ooc_run
