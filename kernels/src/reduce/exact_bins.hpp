#pragma once

#include "reduce/exact_sum.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ooc::reduction {

/// Adds floats or doubles without rounding, fast, on the CPU: the significands of all numbers with
/// the same sign and exponent go to one bin, as integers, with nothing to shift or to carry. Bins
/// are emptied into an ExactSum before they overflow. NaN and infinities are left out.
template <class T>
class ExactBins {
 public:
  ExactBins() : bins_(std::size_t{1} << (8 * sizeof(T) - Format::fraction_bits)) {}

  /// At most `most_elements` at once.
  void add(const T* values, std::size_t count);

  /// The sum of all that was added, which is forgotten.
  ExactSum take();

  /// As many as the bins hold.
  static constexpr std::size_t most_elements = std::size_t{1} << 20;

 private:
  using Format = FloatFormat<T>;

  // The 32-bit words of an element are added up apart, the highest as its part of the fraction,
  // and in the bits above that sum, a one for each element.
  static constexpr std::size_t words = sizeof(T) / 4;
  static constexpr unsigned high_fraction_bits = Format::fraction_bits % 32;
  static constexpr unsigned count_position = 43;
  static_assert(most_elements << high_fraction_bits <= std::uint64_t{1} << count_position);
  static_assert(most_elements <= std::uint64_t{1} << (64 - count_position - 1));

  // Neighbouring elements go to different ones, or else constant data would wait for its own last
  // store at each element.
  static constexpr std::size_t copies = 4;
  using Bin = std::array<std::uint64_t, words>;

  void empty_bins();

  std::vector<std::array<Bin, copies>> bins_;  // by the sign and exponent of an element
  std::size_t elements_ = 0;                   // in the bins
  ExactSum sum_;
};

}  // namespace ooc::reduction
