#pragma once

#include <ooc/detail/pool/plan.hpp>

#include <cstddef>
#include <vector>

namespace ooc::test {

/// Returns where inputs are stored, of extents that say which one they belong to.
inline std::vector<detail::InputStorage> inputs_of(const std::vector<detail::Extent>& extents,
                                                   std::size_t inputs) {
  std::vector<std::vector<detail::Extent>> of_each(inputs);
  for (const detail::Extent& extent : extents) of_each[extent.input].push_back(extent);
  std::vector<detail::InputStorage> all;
  for (const std::vector<detail::Extent>& each : of_each) all.push_back({each});
  return all;
}

}  // namespace ooc::test
