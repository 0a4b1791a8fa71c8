#pragma once

#include "request/request.hpp"

namespace ooc_run {

/// Refuses values that must not be combined. Throws Error(usage).
///
/// Pairs of options that exclude or need each other, whatever their values, are in the tables of
/// cli/options.cpp instead. The class Arguments checks them: it knows which of the two is only an
/// environment variable, which then yields to the command line.
void refuse_conflicts(const Request& request);

}  // namespace ooc_run
