#pragma once

#include <string>

#include "rates/ceilings.hpp"
#include "timeline/run_record.hpp"

namespace ooc_run {

/// Bytes read and written a second over the whole run, as HTML, with what `bench` has measured of
/// the stages as lines. A legend names them, and those that lie beyond the scale.
std::string draw_rates(const RunRecord& record, const Ceilings& ceilings);

}  // namespace ooc_run
