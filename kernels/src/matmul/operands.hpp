#pragma once

#include <ooc/matmul.hpp>
#include <ooc/source.hpp>

namespace ooc::detail::product {

/// Throws Error(bad_input) unless the sources are matrices of one supported type that fit together.
void require_matrices(const Source& a, const Source& b);

/// Returns options.precision, or else the default for the type of the inputs.
Precision precision_of(const Source& a, const MatmulOptions& options);

}  // namespace ooc::detail::product
