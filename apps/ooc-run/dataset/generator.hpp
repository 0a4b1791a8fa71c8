#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/io/element_type.hpp>
#include <ooc/kernels/number.hpp>
#include <span>

namespace ooc_run {

/// The pattern of generated data. Every element is an integer k(seed, index) divided by
/// 2^fraction_bits. Only integer arithmetic makes k, so that every machine makes the same bytes and
/// the sum is known exactly. `hash(n)` is the splitmix64 finaliser of n steps from the mixed seed.
enum class Pattern {
  uniform,   // the bits of hash(): integers over the whole range, floats k / 2^p in [0, 1)
  normal,    // the sum of twelve uniform 10-bit numbers less its mean: deviation 1 (integers: 1/16
             // of their range, around its middle)
  sequence,  // the index, again from 0 where the type has no next exact integer
  constant,  // one integer
  zipf,      // 1, 2, 3, ... with probability about 1 / k^2
  position,  // each 8 bytes of the data are their own index, whatever the element type
};

/// A dataset that can be generated in pieces, in any order.
struct Generator {
  ooc::DType type;
  Pattern pattern = Pattern::uniform;
  std::uint64_t seed = 0;
  std::int64_t value = 1;  // of Pattern::constant

  /// Fills `data` with the elements from index `first` on, which must be a multiple of 8. Returns
  /// the sum of their integers k; for floats with Pattern::position, 0.
  ooc::int128 fill(std::uint64_t first, std::span<std::byte> data) const;

  /// Returns the b for which the sum of the elements is the result of fill() divided by 2^b.
  unsigned fraction_bits() const;

  /// False for floats with Pattern::position: their bits may be any number, or NaN.
  bool has_sum() const;

  /// Throws Error(usage) unless `value` is a value of the element type.
  void check() const;
};

}  // namespace ooc_run
