#pragma once

#include <ooc/matmul.hpp>
#include <ooc/ranks.hpp>

#include <span>

namespace ooc::detail::product {

/// Adds the plan and the results of a further block, on the same device or on another one. Does not
/// add MatmulPlan::multiplying_seconds.
void add(MatrixProduct& sum, const MatrixProduct& part);

/// Returns the sum of the plans and results of several devices or ranks, which share one product.
/// Ignores those without a block.
MatrixProduct sum_of(std::span<const MatrixProduct> parts);

/// Returns the sum of the plans and results of all ranks. `ranks` may be null.
MatrixProduct sum_of_ranks(Ranks* ranks, const MatrixProduct& part);

}  // namespace ooc::detail::product
