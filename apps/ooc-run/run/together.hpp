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

/// Connects to the other ranks of the program, and returns all ranks. Throws Error.
using Meet = std::function<std::unique_ptr<ooc::Ranks>()>;

/// Connects to the other ranks. If a process has stopped, MPI waits for it for ever, so this
/// process ends with an error after the timeout, but not before 15 s.
std::unique_ptr<ooc::Ranks> meet_in_time(const Meet& meet, double timeout);

/// Destroys the ranks, for which MPI waits. After the timeout, ends the process at once.
void close_in_time(std::unique_ptr<ooc::Ranks> ranks, double timeout, int exit_code);

/// Divides a request among the ranks; null if the program runs alone. Throws Error(usage) for
/// commands and options that several ranks cannot share.
void divide(Request& request, ooc::Ranks* ranks);

/// Waits until the run of all ranks is complete. Throws Error if one has failed since.
void leave_after_success(ooc::Ranks& ranks);

/// The tasks of a rank whose run has failed.
struct Farewell {
  bool prints = true;       // print the error, which one rank does for all
  bool is_complete = true;  // all ranks have left; otherwise some may hang, and MPI with them
};

/// Tells the other ranks about the error that has ended the run of this rank.
Farewell leave_after_failure(ooc::Ranks& ranks, const ooc::Error& error);

/// Returns the text with the name of the rank if there are several. `ranks` may be null.
std::string with_rank(const std::string& text, const ooc::Ranks* ranks);

/// Returns the error with the name of the rank, unless all ranks have it. `ranks` may be null.
ooc::Error with_rank(const ooc::Error& error, const ooc::Ranks* ranks);

}  // namespace ooc_run
