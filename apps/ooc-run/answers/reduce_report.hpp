#pragma once

#include <ooc/reduce.hpp>
#include <string>

#include "result/outcome.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Returns statistics as JSON.
Json describe_statistics(const ooc::Statistics& statistics, const ooc::ReduceOptions& options);

/// Returns the statistics as lines of a name, a value, and the index of the value if it has one.
std::string table(const ooc::Statistics& statistics, ooc::ElementType type,
                  const ooc::ReduceOptions& options);

/// Returns a warning that says what makes a statistic NaN. Empty if none is.
std::string why_nan(const ooc::Statistics& statistics, const ooc::ReduceOptions& options);

/// Throws Error(bad_input) if argmin or argmax is behind the end of the data, which happens only if
/// a part was forged.
void require_places_in_data(const ooc::Statistics& statistics);

}  // namespace ooc_run
