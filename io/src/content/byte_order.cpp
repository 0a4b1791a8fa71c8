#include <ooc/detail/content/byte_order.hpp>

#include <algorithm>
#include <vector>

#include "content/byte_positions.hpp"
#include "content/sample_values.hpp"

namespace ooc::detail {
namespace {

DType in_other_order(const DType& type) {
  return {type.element, !type.swapped};
}

std::vector<double> values_of(std::span<const std::byte> sample, const DType& type) {
  std::vector<double> values;
  for_each_value(sample, type, [&](double value) { values.push_back(value); });
  return values;
}

/// True if many values are odd in this byte order, few in the other one, and hardly any is usual in
/// this order only. A fill value, which is odd in both orders, does not count.
bool floats_look_swapped(std::span<const std::byte> sample, const DType& type,
                         const FloatHabits& usual) {
  const std::vector<double> values = values_of(sample, type);
  const std::vector<double> others = values_of(sample, in_other_order(type));
  std::vector<double> odd;  // in both orders
  double better_there = 0, better_here = 0, odd_there = 0, telling = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_usual_here = usual.has(values[i]), is_usual_there = usual.has(others[i]);
    telling += values[i] != 0;
    better_there += !is_usual_here && is_usual_there;
    better_here += is_usual_here && !is_usual_there;
    odd_there += !is_usual_there;
    if (!is_usual_here && !is_usual_there && values[i] == values[i]) odd.push_back(values[i]);
  }
  odd_there -= static_cast<double>(repetitions(std::move(odd)));
  constexpr double many = 0.1, few = 0.1;
  return better_there > many * telling && better_here < few * better_there &&
         odd_there < few * telling;
}

/// The bytes of integers from the highest to the lowest that varies.
struct VaryingBytes {
  std::vector<ByteCounts> counts;
  std::size_t position_of_high = 0;
  std::size_t constant_below = 0;  // bytes behind the lowest one that varies
  bool zeros_below = true;         // all of these are 0
};

/// `swapped`: the highest byte comes first.
VaryingBytes varying_bytes(const BytePositions& positions, std::size_t width, bool swapped) {
  constexpr double little = 0.02;  // bits
  VaryingBytes bytes;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t position = swapped ? i : width - 1 - i;
    const ByteCounts counts = positions.at(position, width);
    if (counts.entropy() > little) {
      if (bytes.counts.empty()) bytes.position_of_high = position;
      bytes.counts.push_back(counts);
      bytes.constant_below = 0;
      bytes.zeros_below = true;
    } else if (!bytes.counts.empty()) {
      ++bytes.constant_below;
      bytes.zeros_below = bytes.zeros_below && counts.share(0) > 0.99;
    }
  }
  return bytes;
}

/// In the right order the low bytes are the most random ones, and the highest one that varies has
/// values near to each other.
bool integers_look_swapped(std::span<const std::byte> sample, const DType& type) {
  const std::size_t width = size_of(type.element);
  if (width == 1) return false;
  const BytePositions positions(sample);
  const VaryingBytes bytes = varying_bytes(positions, width, type.swapped);
  if (bytes.counts.empty()) return false;
  const ByteCounts& high = bytes.counts.front();
  const ByteCounts& low = bytes.counts.back();
  const double excess = high.entropy() - low.entropy();
  // Numbers that end in so many 0 bytes are unlikely; small numbers in the other order are not.
  const bool has_long_tail = bytes.zeros_below && bytes.constant_below > width / 2 - 1 && width > 2;
  constexpr double much = 1, some = 0.05;  // bits
  if (has_long_tail && (bytes.counts.size() == 1 || excess > some)) return true;
  return excess > much && low.is_narrow() && !high.is_narrow() &&
         positions.is_noise(bytes.position_of_high, width);
}

}  // namespace

double odd_share(std::span<const std::byte> sample, const DType& type) {
  const auto usual = std::ranges::find(float_habits, type.element, &FloatHabits::element);
  if (usual == float_habits.end()) return 0;
  double values = 0, odd = 0;
  for_each_value(sample, type, [&](double value) {
    values += value != 0;
    odd += !usual->has(value);
  });
  return values == 0 ? 0 : odd / values;
}

bool looks_swapped(std::span<const std::byte> sample, const DType& type) {
  const auto usual = std::ranges::find(float_habits, type.element, &FloatHabits::element);
  if (usual != float_habits.end()) return floats_look_swapped(sample, type, *usual);
  return integers_look_swapped(sample, type);
}

}  // namespace ooc::detail
