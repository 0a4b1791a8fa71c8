#include "content/byte_positions.hpp"

#include <algorithm>
#include <cmath>

namespace ooc::detail {

void ByteCounts::add(const ByteCounts& other) {
  for (std::size_t byte = 0; byte < counts.size(); ++byte) counts[byte] += other.counts[byte];
  total += other.total;
}

double ByteCounts::share(std::size_t from, std::size_t to) const {
  double sum = 0;
  for (std::size_t byte = from; byte < to; ++byte) sum += counts[byte];
  return total == 0 ? 0 : sum / total;
}

double ByteCounts::entropy() const {
  return entropy_of(counts);
}

bool ByteCounts::is_narrow() const {
  constexpr std::size_t window = 64;
  constexpr double nearly_all = 0.9;
  double inside = share(0, window);
  for (std::size_t first = 0; first < counts.size(); ++first) {
    if (inside >= nearly_all) return true;
    inside += share((first + window) % counts.size()) - share(first);
  }
  return false;
}

double entropy_of(std::span<const double> counts) {
  double total = 0, bits = 0;
  for (const double count : counts) total += count;
  for (const double count : counts) {
    if (count > 0) bits -= count / total * std::log2(count / total);
  }
  return bits;
}

bool differ(const ByteCounts& one, const ByteCounts& other) {
  double distance = 0, bins = 0;
  for (std::size_t byte = 0; byte < one.counts.size(); ++byte) {
    distance += std::abs(one.share(byte) - other.share(byte)) / 2;
    bins += one.counts[byte] + other.counts[byte] > 0;
  }
  constexpr double least = 0.05;
  const double by_chance = std::sqrt(bins / (M_PI * std::min(one.total, other.total)));
  return distance > least + 1.5 * by_chance;
}

BytePositions::BytePositions(std::span<const std::byte> sample) : sample_(sample) {
  for (std::size_t i = 0; i < sample.size(); ++i) {
    ByteCounts& counts = positions_[i % widest];
    ++counts.counts[std::to_integer<std::size_t>(sample[i])];
    ++counts.total;
  }
}

ByteCounts BytePositions::at(std::size_t position, std::size_t width) const {
  ByteCounts sum;
  for (; position < widest; position += width) sum.add(positions_[position]);
  return sum;
}

std::size_t BytePositions::width() const {
  std::size_t width = widest;
  while (width > 1 && !divides(width)) width /= 2;
  return width;
}

bool BytePositions::divides(std::size_t width) const {
  const std::size_t half = width / 2;
  for (std::size_t position = 0; position < half; ++position) {
    if (differ(at(position, width), at(position + half, width))) return true;
  }
  return false;
}

bool BytePositions::is_noise(std::size_t position, std::size_t width) const {
  constexpr int values = 256;
  constexpr double least = 32;  // mean distance; random bytes have a mean distance of 64
  double jumps = 0, changes = 0;
  for (std::size_t i = position + width; i < sample_.size(); i += width) {
    const int difference =
        std::abs(std::to_integer<int>(sample_[i]) - std::to_integer<int>(sample_[i - width]));
    jumps += std::min(difference, values - difference);
    changes += difference != 0;
  }
  return changes > 0 && jumps >= least * changes;
}

}  // namespace ooc::detail
