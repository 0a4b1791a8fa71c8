#pragma once

#include <ooc/quantile.hpp>
#include <span>
#include <string>
#include <vector>

#include "draw/distribution_plot.hpp"
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

/// Returns the options with more quantiles behind those asked for, evenly spaced: the curve of a
/// picture.
ooc::QuantileOptions with_curve(ooc::QuantileOptions options);

/// Returns the quantiles that a picture can show, which are finite, with rising q.
std::vector<DistributionPoint> points_of(std::span<const ooc::Quantile> quantiles);

/// Returns a warning that says why quantiles are NaN, or why there are none. Empty otherwise.
std::string why_nan(const ooc::Quantiles& found, const ooc::QuantileOptions& options);

}  // namespace ooc_run
