#pragma once

#include <ooc/detail/kernels/matmul.hpp>
#include <ooc/ranks.hpp>

#include <span>

namespace ooc::product {

/// Adds what a device has planned and done after another block, or beside another device, but for
/// MatmulPlan::multiplying_seconds.
void add(Product& sum, const Product& part);

/// Returns what several devices or ranks have planned and done, each its part of one product. Those
/// that had no block are left out.
Product sum_of(std::span<const Product> parts);

/// Returns the sum of what all ranks have planned and done. `ranks` may be null.
Product sum_of_ranks(Ranks* ranks, const Product& part);

}  // namespace ooc::product
