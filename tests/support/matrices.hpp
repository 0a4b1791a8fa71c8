#pragma once

#include <ooc/dtype.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "support/bits.hpp"

namespace ooc::detail::test {

/// Converts a value to T; bf16 is rounded to nearest. A value for f2 must be zero, infinite, NaN,
/// or a normal number with no more digits than f2 has.
template <class T>
T from_double(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if constexpr (std::is_same_v<T, BFloat16>) {
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  } else if constexpr (std::is_same_v<T, Float16>) {
    const std::uint32_t sign = bits >> 16 & 0x8000;
    if (value == 0) return {static_cast<std::uint16_t>(sign)};
    if (std::isnan(value)) return {0x7e00};
    if (std::isinf(value)) return {static_cast<std::uint16_t>(sign | 0x7c00)};
    return {static_cast<std::uint16_t>(sign | ((bits & 0x7fffffff) - ((127 - 15) << 23)) >> 13)};
  } else {
    return static_cast<T>(value);
  }
}

/// Returns the bits of a value that was converted by from_double().
inline std::uint64_t bits_of(double value, ElementType type) {
  switch (type) {
    case ElementType::f2: return bits_of(from_double<Float16>(value));
    case ElementType::bf16: return bits_of(from_double<BFloat16>(value));
    case ElementType::f4: return bits_of(from_double<float>(value));
    case ElementType::f8: return bits_of(value);
    default: throw std::invalid_argument("not a floating type");
  }
}

/// A row-major matrix.
template <class T>
struct Matrix {
  std::uint64_t rows, columns;
  std::vector<T> values;
  std::uint64_t stride = columns;  // from row to row, in elements

  T& at(std::uint64_t row, std::uint64_t column) { return values[row * stride + column]; }
  const T& at(std::uint64_t row, std::uint64_t column) const {
    return values[row * stride + column];
  }
};

/// A matrix of NaN, with `padding` of them between the rows as well. Code that reads the padding,
/// or leaves an element as it was, does not go unnoticed.
template <class T>
Matrix<T> nan_matrix(std::uint64_t rows, std::uint64_t columns, std::uint64_t padding = 0) {
  const T nan = from_double<T>(std::numeric_limits<double>::quiet_NaN());
  const std::uint64_t stride = columns + padding;
  return {rows, columns, std::vector<T>(rows * stride, nan), stride};
}

/// Integers from -8 to 8: sums of their products are exact in any precision.
template <class T>
Matrix<T> random_integers(std::uint64_t rows, std::uint64_t columns, unsigned seed,
                          std::uint64_t padding = 0) {
  std::mt19937_64 random(seed);
  Matrix<T> matrix = nan_matrix<T>(rows, columns, padding);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      matrix.at(i, j) = from_double<T>(static_cast<double>(random() % 17) - 8);
    }
  }
  return matrix;
}

/// Computes C = A B, or C += A B, by the definition. Each step is rounded to the type of C.
template <class T, class C>
void multiply_plainly(const Matrix<T>& a, const Matrix<T>& b, Matrix<C>& c,
                      bool accumulate = false) {
  for (std::uint64_t i = 0; i < c.rows; ++i) {
    for (std::uint64_t j = 0; j < c.columns && !accumulate; ++j) c.at(i, j) = 0;
    for (std::uint64_t k = 0; k < a.columns; ++k) {
      const auto left = static_cast<C>(to_double(a.at(i, k)));
      for (std::uint64_t j = 0; j < c.columns; ++j) {
        c.at(i, j) += left * static_cast<C>(to_double(b.at(k, j)));
      }
    }
  }
}

template <class C, class T>
Matrix<C> plain_product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<C> c{a.rows, b.columns, std::vector<C>(a.rows * b.columns)};
  multiply_plainly(a, b, c);
  return c;
}

/// The sizes of a product: the rows and columns of the result, and the length of its sums.
struct ProductShape {
  std::uint64_t rows, inner, columns;
};

/// Returns the product of two matrices that are given by their values.
template <class T>
std::vector<T> plain_product(const std::vector<T>& a, const std::vector<T>& b,
                             const ProductShape& shape) {
  return plain_product<T>(Matrix<T>{shape.rows, shape.inner, a},
                          Matrix<T>{shape.inner, shape.columns, b})
      .values;
}

}  // namespace ooc::detail::test
