#pragma once

#include <string>

#include "timeline/run_record.hpp"

namespace ooc_run {

/// Draws the first, the middle and the last part of a run, as HTML. Tracks are those of --trace.
/// Each event is a bar with a tooltip.
std::string draw_windows(const RunRecord& record, bool on_cpu);

}  // namespace ooc_run
