#pragma once

#include "run/together.hpp"

namespace ooc_run {

/// Runs the command line, and returns the exit code. `meet`: empty if the program runs alone.
int run_program(int argc, char** argv, const Meet& meet = {});

}  // namespace ooc_run
