#pragma once

#include <vector>

#include "matmul/plan/schedule.hpp"

namespace ooc::product {

/// Tilings that fit the device and of which one is as good as any: cut into as few parts as
/// possible, or a few more that leave memory for other buffers. Not all of them keep to the bound.
std::vector<Tiling> candidate_tilings(const Problem& problem, const Limits& limits);

}  // namespace ooc::product
