#pragma once

#include <functional>
#include <memory>
#include <ooc/ranks.hpp>

namespace ooc_run {

/// Returns the processes that share the runs of the program. Throws Error.
using Meet = std::function<std::unique_ptr<ooc::Ranks>()>;

/// Runs the command line, and returns the exit code. `meet`: empty if the program runs alone.
int run_program(int argc, char** argv, const Meet& meet = {});

}  // namespace ooc_run
