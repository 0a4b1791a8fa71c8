#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <string>

namespace ooc_run {

/// What bounded a run and what the others did meanwhile, in one line. Empty for runs of up to a
/// second, of which start-up is too large a part, and for interrupted ones.
std::string verdict(const ooc::Stats& stats, ooc::DeviceKind device);

}  // namespace ooc_run
