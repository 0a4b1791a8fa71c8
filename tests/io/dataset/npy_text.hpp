#pragma once

#include <cstddef>
#include <string>

namespace ooc::detail::test {

/// Returns the text of a .npy header.
inline std::string header_of(const std::string& descr, const std::string& order,
                             const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

/// Returns a .npy file with this text, right or wrong, and so many bytes of data.
inline std::string npy(const std::string& header, std::size_t data_bytes, int major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i));
  }
  return file + header + std::string(data_bytes, 'x');
}

}  // namespace ooc::detail::test
