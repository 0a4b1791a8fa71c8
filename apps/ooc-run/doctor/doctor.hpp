#pragma once

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Checks what the machine lacks for fast runs. Throws ooc::Error.
Outcome run(const DoctorRequest& request, const Interrupt& interrupt);

}  // namespace ooc_run
