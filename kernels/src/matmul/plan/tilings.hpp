#pragma once

#include <vector>

#include "matmul/plan/schedule.hpp"

namespace ooc::detail::product {

/// Returns tilings that fit the device, at least one of which is close to the best: with as few
/// parts as possible, or a few more, which leaves memory for other buffers. Some may exceed the
/// bound on traffic.
std::vector<Tiling> candidate_tilings(const Problem& problem, const Limits& limits);

}  // namespace ooc::detail::product
