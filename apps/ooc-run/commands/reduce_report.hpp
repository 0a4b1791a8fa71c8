#pragma once

#include <ooc/detail/kernels/reduce.hpp>
#include <string>

#include "result/outcome.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Returns statistics as JSON.
Json describe_statistics(const ooc::Statistics& statistics, bool exact);

/// Returns the statistics as lines of a name, a value, and the index of the value if it has one.
std::string table(const ooc::Statistics& statistics, ooc::ElementType type, bool exact);

/// Adds a note if the statistics are NaN because some values are.
void note_nan(const ooc::Statistics& statistics, const ooc::ReduceOptions& options,
              Outcome& outcome);

}  // namespace ooc_run
