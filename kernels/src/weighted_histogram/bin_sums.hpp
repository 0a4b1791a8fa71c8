#pragma once

#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc::detail::weighing {

/// The kinds of weights that have no digits, as bits of a set.
struct NonFinite {
  static constexpr std::uint32_t nan = 1, infinity = 2, negative_infinity = 4;
};

/// The exact sums of the weights of all counters. They do not depend on the order of additions.
struct BinSums {
  std::vector<std::int64_t> limbs{};        // of all counters, carried: see limbs_of_sum()
  std::vector<std::uint32_t> non_finite{};  // of each counter: a set of NonFinite

  /// Adds other sums of weights of that type, and frees them. Both may be empty.
  void merge(ElementType type, BinSums& other);

  /// Returns the sum of a counter: an exact integer, or a double that was rounded once.
  Scalar sum(ElementType type, std::size_t counter) const;

  void save(std::vector<std::byte>& out) const;
};

/// Restores the sums that BinSums::save() wrote. `counts`: of the weights of each counter. Throws
/// Error(bad_input) for other bytes, and for sums that so many weights cannot have.
BinSums load_sums(std::span<const std::byte> in, ElementType type,
                  std::span<const std::uint64_t> counts);

/// Returns the number of limbs of a sum of weights of a type.
std::size_t limbs_of_sum(ElementType type);

/// Returns the size of the sums of so many counters (bytes).
std::size_t bytes_of_sums(ElementType type, std::size_t counters);

}  // namespace ooc::detail::weighing
