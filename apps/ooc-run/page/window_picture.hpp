#pragma once

#include <string>

#include "timeline/run_record.hpp"

namespace ooc_run {

/// The first, the middle and the last part of a run, as HTML: tracks as in a timeline of --trace, a
/// bar for each event, with what it was as a tooltip.
std::string draw_windows(const RunRecord& record, bool on_cpu);

}  // namespace ooc_run
