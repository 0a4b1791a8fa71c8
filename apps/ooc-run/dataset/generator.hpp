#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/io/element_type.hpp>
#include <ooc/kernels/number.hpp>
#include <span>

namespace ooc_run {

/// What generated data looks like. Every element is an integer k(seed, index) over 2^fraction_bits,
/// made by integer arithmetic alone, so that every machine makes the same bytes and the sum is
/// known exactly. `hash(n)` is the splitmix64 finaliser of n steps from the scrambled seed.
enum class Pattern {
  uniform,   // the bits of hash(): integers over the whole range, floats k / 2^p in [0, 1)
  normal,    // the sum of twelve uniform 10-bit numbers less its mean: deviation 1 (integers: 1/16
             // of their range, around its middle)
  sequence,  // the index, anew from 0 where the type has no next exact integer
  constant,  // one integer
  zipf,      // 1, 2, 3, ... with probability about 1 / k^2
  position,  // each 8 bytes of the data are their own index, whatever the element type
};

/// A dataset that can be made in pieces, in any order.
struct Generator {
  ooc::DType type;
  Pattern pattern = Pattern::uniform;
  std::uint64_t seed = 0;
  std::int64_t value = 1;  // of Pattern::constant

  /// Writes the elements from index `first` on, a multiple of 8, and returns the sum of their
  /// integers k (0 if has_sum() is false).
  ooc::int128 fill(std::uint64_t first, std::span<std::byte> data) const;

  /// The sum of the elements is what fill() returned over two to the power of this.
  unsigned fraction_bits() const;

  /// False for floats at Pattern::position, whose bits can be any number.
  bool has_sum() const;

  /// Throws Error(usage) unless `value` is a value of the element type.
  void check() const;
};

}  // namespace ooc_run
