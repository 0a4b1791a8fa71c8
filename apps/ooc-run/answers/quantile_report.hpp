#pragma once

#include <ooc/quantile.hpp>
#include <string>

#include "result/document.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Throws Error(interrupted) if a pass was stopped, so that there are no quantiles.
void require_quantiles(const ooc::Stats& stats);

/// Returns quantiles as JSON.
Json describe_quantiles(const ooc::Quantiles& found, const ooc::QuantileOptions& options);

/// Returns the quantiles as lines of a name and a value, after the number of values.
std::string table(const ooc::Quantiles& found, ooc::ElementType type,
                  const ooc::QuantileOptions& options);

/// Returns only the lines of the quantiles.
std::string rows_of(const ooc::Quantiles& found, ooc::ElementType type);

/// Returns the quantiles as a table with tabs: q and value.
Document tsv(const ooc::Quantiles& found);

/// Returns a warning that says why quantiles are NaN, or why there are none. Empty otherwise.
std::string why_nan(const ooc::Quantiles& found, const ooc::QuantileOptions& options);

}  // namespace ooc_run
