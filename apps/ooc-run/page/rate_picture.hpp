#pragma once

#include <string>

#include "rates/ceilings.hpp"
#include "timeline/run_record.hpp"

namespace ooc_run {

/// Draws the read and write rates over the whole run, as HTML, with lines for the measured ceilings
/// of the stages. The legend also lists ceilings that are beyond the scale.
std::string draw_rates(const RunRecord& record, const Ceilings& ceilings);

}  // namespace ooc_run
