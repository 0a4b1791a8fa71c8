#pragma once

#include "reduce/exact_sum.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ooc::detail::reduction {

/// Adds floats or doubles without rounding, fast, on the CPU. The significands of all numbers with
/// the same sign and exponent are added to one bin, as integers, without shifts or carries. Bins
/// are emptied into an ExactSum before they can overflow. NaN and infinities are ignored. Used by
/// one thread.
template <class T>
class ExactBins {
 public:
  ExactBins() : bins_(std::size_t{1} << (8 * sizeof(T) - Format::fraction_bits)) {}

  /// Adds `count` values, at most `most_elements`.
  void add(const T* values, std::size_t count);

  /// Returns the sum of all values since the last call, and clears the bins.
  ExactSum take();

  /// Number of elements that the bins can hold.
  static constexpr std::size_t most_elements = std::size_t{1} << 20;

 private:
  using Format = FloatFormat<T>;

  // The 32-bit words of an element are summed separately. The highest word contributes its part of
  // the fraction, and in the bits above that sum a one for each element.
  static constexpr std::size_t words = sizeof(T) / 4;
  static constexpr unsigned high_fraction_bits = Format::fraction_bits % 32;
  static constexpr unsigned count_position = 43;
  static_assert(most_elements << high_fraction_bits <= std::uint64_t{1} << count_position);
  static_assert(most_elements <= std::uint64_t{1} << (64 - count_position - 1));

  // Neighbouring elements use different copies of a bin. Otherwise, in constant data, each addition
  // would wait for the previous store.
  static constexpr std::size_t copies = 4;
  using Bin = std::array<std::uint64_t, words>;

  void empty_bins();

  std::vector<std::array<Bin, copies>> bins_;  // by the sign and exponent of an element
  std::size_t elements_ = 0;                   // in the bins
  ExactSum sum_;
};

}  // namespace ooc::detail::reduction
