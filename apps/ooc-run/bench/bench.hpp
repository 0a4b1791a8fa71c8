#pragma once

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Measures the rates of the machine and of the pipeline, and keeps the ceilings for other
/// commands. Throws ooc::Error.
Outcome run(const BenchRequest& request, const Interrupt& interrupt);

}  // namespace ooc_run
