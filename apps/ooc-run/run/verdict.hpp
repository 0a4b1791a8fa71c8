#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <string>

#include "rates/ceilings.hpp"

namespace ooc_run {

/// Returns one line with the stage that bounded a run, its rate compared with its ceiling, the idle
/// times of other stages, and advice. If several devices shared the data, with the part of each.
/// Empty for runs of up to a second, where start-up matters too much, and for interrupted ones.
std::string verdict(const ooc::Stats& stats, ooc::DeviceKind device, const Ceilings& ceilings);

}  // namespace ooc_run
