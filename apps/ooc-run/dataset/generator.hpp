#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>
#include <span>

namespace ooc_run {

/// The pattern of generated data. Each element is an integer k(seed, index) over 2^fraction_bits.
/// Only integer arithmetic is used, so every machine generates the same bytes and the sum is known
/// exactly. `hash(n)` is word n of splitmix64, started from a scrambled seed.
enum class Pattern {
  uniform,   // bits of hash(): integers over the whole range, floats k / 2^p in [0, 1)
  normal,    // the sum of twelve uniform 10-bit numbers less its mean: standard deviation 1
             // (integers: 1/16 of their range, around its middle)
  sequence,  // the index, again from 0 after the last integer that is exact in the type
  constant,  // `value` everywhere
  zipf,      // 1, 2, 3, ... with probability about 1 / k^2
  position,  // each 8-byte word of the data holds its index, for every element type
};

/// A dataset whose parts can be generated in any order.
struct Generator {
  ooc::DType type;
  Pattern pattern = Pattern::uniform;
  std::uint64_t seed = 0;
  std::int64_t value = 1;  // for Pattern::constant

  /// Fills `data` with the elements from index `first` on, which must be a multiple of 8. Returns
  /// the sum of their integers k (0 if has_sum() is false).
  ooc::int128 fill(std::uint64_t first, std::span<std::byte> data) const;

  /// Returns the n for which the sum of the elements is the result of fill() over 2^n.
  unsigned fraction_bits() const;

  /// False for floats with Pattern::position: their bits can encode any value.
  bool has_sum() const;

  /// Throws Error(usage) unless the element type represents `value` exactly.
  void check() const;
};

}  // namespace ooc_run
