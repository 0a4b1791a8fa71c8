#pragma once

#include <ooc/dtype.hpp>

namespace ooc::detail {

/// Throws Error(usage) if two fields of an operator's struct have one name, or share bytes.
void require_distinct_fields(const DType& type);

}  // namespace ooc::detail
