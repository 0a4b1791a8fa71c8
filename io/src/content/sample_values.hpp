#pragma once

#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace ooc::detail {

/// Calls `body` with the value of each element of a sample, as a double.
template <class Body>
void for_each_value(std::span<const std::byte> sample, const DType& type, Body&& body) {
  visit(type.element, [&]<class T>(std::type_identity<T>) {
    for (std::size_t at = 0; at + sizeof(T) <= sample.size(); at += sizeof(T)) {
      std::array<std::byte, sizeof(T)> bytes;
      std::memcpy(bytes.data(), sample.data() + at, sizeof(T));
      if (type.swapped) std::ranges::reverse(bytes);
      T value;
      std::memcpy(&value, bytes.data(), sizeof(T));
      body(to_double(value));
    }
  });
}

/// Returns how often the most frequent value occurs; 0 if no value is repeated.
inline std::size_t repetitions(std::vector<double> values) {
  std::ranges::sort(values);  // none is NaN
  std::size_t most = 0;
  for (auto first = values.begin(); first != values.end();) {
    const auto last = std::upper_bound(first, values.end(), *first);
    most = std::max(most, static_cast<std::size_t>(last - first));
    first = last;
  }
  return most > 1 ? most : 0;
}

/// Typical values of a floating-point type in real data.
struct FloatHabits {
  ElementType element;
  double smallest, largest;            // absolute values, without 0
  double least_entropy, most_entropy;  // of the exponents, in bits

  /// True for 0 and values in the usual range; false for NaN.
  bool has(double value) const {
    const double size = value < 0 ? -value : value;
    return value == 0 || (size >= smallest && size <= largest);
  }
};

// The exponents of numbers from one distribution have about two bits of entropy. Only the entropy
// distinguishes f2 from bf16: a typical value of one is rarely out of range as the other.
inline constexpr std::array float_habits{FloatHabits{ElementType::f8, 1e-18, 1e18, 0, 7},
                                         FloatHabits{ElementType::f4, 1e-15, 1e15, 0, 6},
                                         FloatHabits{ElementType::f2, 1e-4, 1e4, 1.3, 3.3},
                                         FloatHabits{ElementType::bf16, 1e-15, 1e15, 0, 4.5}};

}  // namespace ooc::detail
