#include <ooc/detail/base/group_digits.hpp>

#include <cstddef>

namespace ooc::detail {

std::string group_digits(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace ooc::detail
