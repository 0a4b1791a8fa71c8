#pragma once

#include <ooc/matmul.hpp>
#include <ooc/ranks.hpp>

#include <span>

namespace ooc::detail::product {

/// Adds what a device has planned and done after another block, or beside another device, but for
/// MatmulPlan::multiplying_seconds.
void add(MatrixProduct& sum, const MatrixProduct& part);

/// Returns what several devices or ranks have planned and done, each its part of one product. Those
/// that had no block are left out.
MatrixProduct sum_of(std::span<const MatrixProduct> parts);

/// Returns the sum of what all ranks have planned and done. `ranks` may be null.
MatrixProduct sum_of_ranks(Ranks* ranks, const MatrixProduct& part);

}  // namespace ooc::detail::product
