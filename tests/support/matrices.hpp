#pragma once

#include <cstdint>
#include <vector>

namespace ooc::test {

/// The sizes of a product: of the result, and what is summed over.
struct ProductShape {
  std::uint64_t rows, inner, columns;
};

/// The product of two row-major matrices, term by term.
template <class T>
std::vector<T> plain_product(const std::vector<T>& a, const std::vector<T>& b,
                             const ProductShape& shape) {
  std::vector<T> c(shape.rows * shape.columns);
  for (std::uint64_t i = 0; i < shape.rows; ++i) {
    for (std::uint64_t k = 0; k < shape.inner; ++k) {
      for (std::uint64_t j = 0; j < shape.columns; ++j) {
        c[i * shape.columns + j] += a[i * shape.inner + k] * b[k * shape.columns + j];
      }
    }
  }
  return c;
}

}  // namespace ooc::test
