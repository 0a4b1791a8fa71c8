#pragma once

#include <cstdint>

namespace ooc::detail {

/// A sequence of pseudo-random words with random access: word n is word n of splitmix64, started
/// from a scrambled seed. The same on every machine and device.
class RandomWords {
 public:
  /// Equal seeds give equal sequences.
  explicit constexpr RandomWords(std::uint64_t seed) : base_(mix(seed + golden)) {}

  /// Returns word `index`.
  constexpr std::uint64_t operator()(std::uint64_t index) const {
    return mix(base_ + (index + 1) * golden);
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio, odd

  /// The finaliser of splitmix64: each bit of the input changes about half of the bits of the
  /// output.
  static constexpr std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

  std::uint64_t base_;
};

}  // namespace ooc::detail
