#pragma once

#include "request/request.hpp"

namespace ooc_run {

/// Refuses values that must not be combined. Throws Error(usage).
///
/// Options that exclude or need each other are in the tables of cli/options.cpp instead. Arguments
/// checks those, because an option on the command line overrules an environment variable.
void refuse_conflicts(const Request& request);

}  // namespace ooc_run
