#pragma once

#include <ooc/dtype.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "histogram/key_bins.hpp"

// The hash of a value, and the estimate of the number of values by HyperLogLog.

namespace ooc::detail::distincts {

/// Returns the bits of a value that is not NaN, zero-extended: those of +0 for -0.
template <class T>
constexpr std::uint64_t bits_of(T element) {
  const std::uint64_t bits = std::bit_cast<binning::BitsOf<T>>(element);
  constexpr std::uint64_t sign = std::uint64_t{1} << (binning::key_bits<T> - 1);
  if constexpr (is_floating<T>) return bits == sign ? 0 : bits;
  return bits;
}

/// The output of SplitMix64 for a state: a bijection, so different values have different hashes.
constexpr std::uint64_t hash_of(std::uint64_t bits) {
  std::uint64_t hash = bits + 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
  return hash ^ hash >> 31;
}

constexpr std::uint32_t register_bits = 14;
constexpr std::uint32_t hash_bits_left = 64 - register_bits;
constexpr std::size_t registers = std::size_t{1} << register_bits;
constexpr std::uint32_t largest_rank = hash_bits_left + 1;

/// The register of a hash.
constexpr std::size_t register_of(std::uint64_t hash) {
  return hash >> hash_bits_left;
}

/// The bits of a hash behind those of its register, and then a one.
constexpr std::uint64_t tail_of(std::uint64_t hash) {
  return hash << register_bits | std::uint64_t{1} << (register_bits - 1);
}

/// The registers of HyperLogLog for a set of values: each has the largest rank of its hashes.
class Sketch {
 public:
  void add(std::uint64_t hash) {
    // The rank of a hash is the place of the first one in its tail.
    raise(register_of(hash), static_cast<std::uint8_t>(std::countl_zero(tail_of(hash)) + 1));
  }
  void raise(std::size_t index, std::uint8_t rank) {
    if (ranks_[index] < rank) ranks_[index] = rank;
  }
  void merge(const Sketch& other) {
    for (std::size_t i = 0; i < registers; ++i) raise(i, other.ranks_[i]);
  }

  /// Returns an estimate of the number of values.
  double estimate() const;

  const std::array<std::uint8_t, registers>& ranks() const { return ranks_; }
  bool operator==(const Sketch&) const = default;

 private:
  std::array<std::uint8_t, registers> ranks_{};
};

/// True if a number of values may have this estimate: it is at most six standard errors away. Of a
/// few values, two that share a register are more than that.
bool is_likely(double values, double estimate);

}  // namespace ooc::detail::distincts
