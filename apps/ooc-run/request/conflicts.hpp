#pragma once

#include "request/request.hpp"

namespace ooc_run {

/// The one place that refuses values which may not go together. Throws Error(usage).
///
/// Options that exclude or need each other are in the tables of cli/options.cpp instead. Arguments
/// checks those, because an option on the command line overrules a variable of the environment.
void refuse_conflicts(const Request& request);

}  // namespace ooc_run
