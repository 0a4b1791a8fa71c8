#pragma once

#include "request/request.hpp"

namespace ooc_run {

/// Refuses values that must not be combined. Throws Error(usage).
///
/// Pairs of options that exclude or require each other, whatever their values, are in the tables of
/// cli/options.cpp instead. The class Arguments checks them, because it knows which options come
/// from environment variables: these yield to the command line.
void refuse_conflicts(const Request& request);

}  // namespace ooc_run
