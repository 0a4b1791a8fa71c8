#pragma once

#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <variant>
#include <vector>

#include "support/bits.hpp"

namespace ooc::detail::test {

/// The order of values, with -0 before +0.
template <class T>
bool comes_before(T one, T other) {
  if constexpr (is_floating<T>) {
    const double a = to_double(one), b = to_double(other);
    return a == b ? std::signbit(a) && !std::signbit(b) : a < b;
  } else {
    return one < other;
  }
}

/// Returns values by their index: numbers or, of floats of two bytes, their bits.
template <class T>
std::vector<T> numbers(std::size_t count, const std::function<double(std::size_t)>& number) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_arithmetic_v<T>)
      values.push_back(static_cast<T>(number(i)));
    else
      values.push_back(from_bits<T>(static_cast<std::uint64_t>(number(i))));
  }
  return values;
}

/// Expects a result to be an element, to the bit.
template <class T>
void expect_element(const Scalar& found, T expected) {
  if constexpr (is_floating<T>) {
    EXPECT_EQ(bits_of(found.value()), bits_of(to_double(expected)));
  } else {
    EXPECT_TRUE(std::get<int128>(found) == int128{expected})
        << to_string(found) << ", not " << to_string(int128{expected});
  }
}

}  // namespace ooc::detail::test
