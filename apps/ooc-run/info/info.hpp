#pragma once

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Describes a dataset. Reads little or nothing of its data. Throws ooc::Error.
Outcome run(const InfoRequest& request, const Interrupt& interrupt);

}  // namespace ooc_run
