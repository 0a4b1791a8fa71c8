#pragma once

#include "matmul/plan/schedule.hpp"

namespace ooc::detail::product {

/// Returns the seconds that a schedule takes at these rates, from the first load until the last
/// tile is in its file. Loads, products and sent tiles overlap, but each kind proceeds one by one,
/// in order: a load as soon as its buffer is free, a product as soon as its panels are loaded and
/// the buffer of its tile is free.
double seconds_of(const Problem& problem, const Schedule& schedule, const Rates& rates);

}  // namespace ooc::detail::product
