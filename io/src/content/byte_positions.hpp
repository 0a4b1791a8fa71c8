#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace ooc::detail {

/// Counts of byte values, at some positions within groups of eight bytes.
struct ByteCounts {
  std::array<double, 256> counts{};
  double total = 0;

  void add(const ByteCounts& other);
  double share(std::size_t byte) const { return total == 0 ? 0 : counts[byte] / total; }
  double share(std::size_t from, std::size_t to) const;
  double entropy() const;  // in bits

  /// True if nine of ten bytes are within 64 neighbouring values; 255 and 0 are neighbours.
  bool is_narrow() const;
};

/// Returns the entropy of a distribution in bits.
double entropy_of(std::span<const double> counts);

/// True if bytes at two positions come from significantly different distributions.
bool differ(const ByteCounts& one, const ByteCounts& other);

/// The byte counts of a sample, by position within an element of a given width.
class BytePositions {
 public:
  static constexpr std::size_t widest = 8;  // largest element size in bytes

  explicit BytePositions(std::span<const std::byte> sample);

  ByteCounts at(std::size_t position, std::size_t width) const;

  /// Returns the element width: the largest whose two halves have different distributions, or 1.
  std::size_t width() const;

  /// True if the bytes at a position jump like the last digits of numbers, from 0 to 255 and back.
  /// Those of images and other smooth data do not.
  bool is_noise(std::size_t position, std::size_t width) const;

 private:
  bool divides(std::size_t width) const;

  std::span<const std::byte> sample_;
  std::array<ByteCounts, widest> positions_;
};

}  // namespace ooc::detail
