#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/stats.hpp>
#include <string>

#include "result/document.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Returns a histogram of pairs as JSON.
Json describe_histogram_2d(const ooc::Histogram2d& histogram);

/// Throws Error(interrupted) if a pass was stopped before it counted anything.
void require_counts(const ooc::Histogram2d& histogram, const ooc::Stats& stats);

/// Returns a table of the cells with tabs: the edges of x, those of y, and the count.
Document tsv(const ooc::Histogram2d& histogram);

}  // namespace ooc_run
