#pragma once

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Writes a file of generated data. Throws ooc::Error.
Outcome run(const GenRequest& request, const Interrupt& interrupt);

}  // namespace ooc_run
