#pragma once

#include <ooc/fold.hpp>

#include <random>
#include <utility>
#include <vector>

namespace ooc::detail::test {

/// Merges parts of all records two at a time, in random order, and returns their result.
template <class Value>
Value merge_parts(std::vector<PartialResult<Value>> parts, std::mt19937_64& random) {
  while (parts.size() > 1) {
    std::swap(parts[random() % parts.size()], parts.back());
    auto last = std::move(parts.back());
    parts.pop_back();
    parts[random() % parts.size()].merge(std::move(last));
  }
  return std::move(parts.front()).result();
}

}  // namespace ooc::detail::test
