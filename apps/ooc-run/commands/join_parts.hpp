#pragma once

#include "parts/parts.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Writes one part that covers the ranges of all parts, for merge -o.
Outcome join_parts(const MergeRequest& request, const Parts& all);

}  // namespace ooc_run
