#pragma once

#include "matmul/plan/schedule.hpp"

namespace ooc::detail::product {

/// Returns the seconds that a schedule takes at these rates, from the first load to the last tile
/// in its file. Loads, products and tiles on their way out each take place one after another, in
/// order, and beside the others: a load as soon as its buffer is free, a product as soon as its
/// panels are there and its tile's buffer is free.
double seconds_of(const Problem& problem, const Schedule& schedule, const Rates& rates);

}  // namespace ooc::detail::product
