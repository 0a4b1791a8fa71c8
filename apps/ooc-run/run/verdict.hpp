#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <string>

#include "rates/ceilings.hpp"

namespace ooc_run {

/// What bounded a run, how near it was to what was measured of that alone, what the others did
/// meanwhile and what would help, in one line. Empty for runs of up to a second, of which start-up
/// is too large a part, and for interrupted ones.
std::string verdict(const ooc::Stats& stats, ooc::DeviceKind device, const Ceilings& ceilings);

}  // namespace ooc_run
