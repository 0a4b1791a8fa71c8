#pragma once

#include <ooc/detail/base/language.hpp>
#include <ooc/detail/observe/stats.hpp>

namespace ooc {

/// The result of a pass: `const auto [value, stats] = ooc::fold(coordinator, op, source);`.
template <class T>
struct Result {
  T value;      ///< made by the operator
  Stats stats;  ///< of the pass
};

}  // namespace ooc
