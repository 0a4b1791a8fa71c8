#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <string>

#include "rates/ceilings.hpp"

namespace ooc_run {

/// Returns one line with the stage that bounded a run, its rate compared with its ceiling, the idle
/// times of other stages, and advice. If devices or ranks shared the data, gives their shares
/// instead. Empty for interrupted runs, and for runs of up to a second (mostly start-up).
std::string verdict(const ooc::Stats& stats, ooc::DeviceKind device, const Ceilings& ceilings);

}  // namespace ooc_run
