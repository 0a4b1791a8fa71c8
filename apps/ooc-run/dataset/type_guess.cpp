#include "dataset/type_guess.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace ooc_run {
namespace {

using ooc::ElementType;

constexpr std::size_t widest = 8;  // largest element size in bytes
constexpr double most = 0.9;       // fraction of values that is sufficient evidence

/// Counts of byte values, at some positions within groups of eight bytes.
struct ByteCounts {
  std::array<double, 256> counts{};
  double total = 0;

  void add(const ByteCounts& other) {
    for (std::size_t byte = 0; byte < counts.size(); ++byte) counts[byte] += other.counts[byte];
    total += other.total;
  }
  double share(std::size_t byte) const { return total == 0 ? 0 : counts[byte] / total; }
  double share(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t byte = from; byte < to; ++byte) sum += counts[byte];
    return total == 0 ? 0 : sum / total;
  }
};

double entropy(std::span<const double> counts) {
  double total = 0, bits = 0;
  for (const double count : counts) total += count;
  for (const double count : counts) {
    if (count > 0) bits -= count / total * std::log2(count / total);
  }
  return bits;
}

/// True if bytes at two positions come from significantly different distributions.
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

/// The byte counts of a sample, by position within an element of a given width.
class BytePositions {
 public:
  explicit BytePositions(std::span<const std::byte> sample) {
    for (std::size_t i = 0; i < sample.size(); ++i) {
      ByteCounts& counts = positions_[i % widest];
      ++counts.counts[std::to_integer<std::size_t>(sample[i])];
      ++counts.total;
    }
  }

  ByteCounts at(std::size_t position, std::size_t width) const {
    ByteCounts sum;
    for (; position < widest; position += width) sum.add(positions_[position]);
    return sum;
  }

  /// Returns the element width: the largest whose two halves have different distributions, or 1.
  std::size_t width() const {
    std::size_t width = widest;
    while (width > 1 && !divides(width)) width /= 2;
    return width;
  }

 private:
  bool divides(std::size_t width) const {
    const std::size_t half = width / 2;
    for (std::size_t position = 0; position < half; ++position) {
      if (differ(at(position, width), at(position + half, width))) return true;
    }
    return false;
  }

  std::array<ByteCounts, widest> positions_;
};

/// Calls `body` with the value of each element, as a double.
template <class Body>
void for_each_value(std::span<const std::byte> sample, ooc::DType type, Body&& body) {
  ooc::visit(type.element, [&]<class T>(std::type_identity<T>) {
    for (std::size_t at = 0; at + sizeof(T) <= sample.size(); at += sizeof(T)) {
      std::array<std::byte, sizeof(T)> bytes;
      std::memcpy(bytes.data(), sample.data() + at, sizeof(T));
      if (type.swapped) std::ranges::reverse(bytes);
      T value;
      std::memcpy(&value, bytes.data(), sizeof(T));
      body(ooc::to_double(value));
    }
  });
}

/// Typical values of a floating-point type in real data.
struct FloatHabits {
  ElementType element;
  double smallest, largest;            // absolute values, without 0
  double least_entropy, most_entropy;  // of the exponents, in bits
};

// The exponents of numbers from one distribution have about two bits of entropy. Only the entropy
// distinguishes f2 from bf16: a typical value of one is rarely out of range as the other.
constexpr std::array habits{FloatHabits{ElementType::f8, 1e-18, 1e18, 0, 7},
                            FloatHabits{ElementType::f4, 1e-15, 1e15, 0, 6},
                            FloatHabits{ElementType::f2, 1e-4, 1e4, 1.3, 3.3},
                            FloatHabits{ElementType::bf16, 1e-15, 1e15, 0, 4.5}};

/// Returns the fraction of values in the usual range, not counting 0 and NaN. Returns 0 if the
/// remaining values are less than a fraction `least_telling` of all, or if the entropy of their
/// exponents is unusual.
double usual_share(std::span<const std::byte> sample, ooc::DType type, const FloatHabits& usual,
                   double least_telling) {
  constexpr std::size_t exponents = 2200;
  constexpr int smallest_exponent = -1100;
  std::array<double, exponents> by_exponent{};
  double values = 0, telling = 0, usual_values = 0;
  for_each_value(sample, type, [&](double value) {
    ++values;
    if (value == 0 || std::isnan(value)) return;
    ++telling;
    const double size = std::abs(value);
    if (size < usual.smallest || size > usual.largest) return;
    ++usual_values;
    ++by_exponent[static_cast<std::size_t>(std::ilogb(size) - smallest_exponent)];
  });
  if (telling < 1 || telling < least_telling * values) return 0;
  const double bits = entropy(by_exponent);
  if (bits < usual.least_entropy || bits > usual.most_entropy) return 0;
  return usual_values / telling;
}

std::optional<TypeGuess> guess_float(std::span<const std::byte> sample, std::size_t width,
                                     double least_telling) {
  std::optional<TypeGuess> best;
  double best_share = most;
  for (const FloatHabits& usual : habits) {
    if (ooc::size_of(usual.element) != width) continue;
    for (const bool swapped : {false, true}) {
      const ooc::DType type{usual.element, swapped};
      const double share = usual_share(sample, type, usual, least_telling);
      if (share <= best_share) continue;
      best_share = share;
      best = {type, fmt::format("{:.0f} % of the numbers would be between {:g} and {:g} in size",
                                std::floor(share * 100), usual.smallest, usual.largest)};
    }
  }
  return best;
}

ooc::DType integer(std::size_t width, bool is_signed, bool swapped) {
  constexpr std::array unsigned_types{ElementType::u1, ElementType::u2, ElementType::u4,
                                      ElementType::u8};
  constexpr std::array signed_types{ElementType::i1, ElementType::i2, ElementType::i4,
                                    ElementType::i8};
  const auto power = static_cast<std::size_t>(std::countr_zero(width));
  return {is_signed ? signed_types[power] : unsigned_types[power], swapped && width > 1};
}

bool never_falls(std::span<const std::byte> sample, ooc::DType type) {
  double before = 0, pairs = -1, falls = 0;
  for_each_value(sample, type, [&](double value) {
    ++pairs;
    falls += pairs > 0 && value < before;
    before = value;
  });
  constexpr double pieces = 64;  // more than a sample has: values may fall between pieces
  return pairs > 2 * pieces && falls < pieces;
}

/// Guesses an integer type if the highest byte of most values is 0 or all ones.
std::optional<TypeGuess> guess_small_integer(const BytePositions& positions,
                                             std::span<const std::byte> sample, std::size_t width) {
  for (const bool swapped : {false, true}) {
    const ByteCounts top = positions.at(swapped ? 0 : width - 1, width);
    const double zeros = top.share(0x00), ones = top.share(0xff);
    if (zeros + ones < most) continue;
    constexpr double some = 0.001;
    const ooc::DType type = integer(width, ones > some, swapped);
    std::string reason =
        fmt::format("the highest byte of {:.0f} % of the numbers would be {}",
                    std::floor((zeros + ones) * 100), ones > some ? "0 or all ones" : "0");
    if (never_falls(sample, type)) reason += ", and they do not fall, like offsets or times";
    return TypeGuess{type, std::move(reason)};
  }
  return {};
}

/// True if the highest bytes are those of small positive and small negative numbers.
bool has_both_signs(const ByteCounts& top) {
  const double positive = top.share(0, 64), negative = top.share(192, 256);
  constexpr double some = 0.1, nearly_all = 0.95;
  return positive > some && negative > some && positive + negative > nearly_all;
}

TypeGuess guess_large_integer(const BytePositions& positions, std::size_t width) {
  const auto bits_at = [&](std::size_t position) {
    return entropy(positions.at(position, width).counts);
  };
  const bool swapped = bits_at(0) < bits_at(width - 1);
  const bool is_signed = has_both_signs(positions.at(swapped ? 0 : width - 1, width));
  return {integer(width, is_signed, swapped),
          fmt::format("a pattern repeats every {} bytes, which would be odd floats", width),
          Evidence::pattern};
}

bool is_text(const BytePositions& positions) {
  const ByteCounts all = positions.at(0, 1);
  const double text = all.share(0x20, 0x7f) + all.share('\n') + all.share('\r') + all.share('\t');
  constexpr double nearly_all = 0.99;
  return text > nearly_all;
}

TypeGuess guess_bytes(const BytePositions& positions) {
  const ByteCounts all = positions.at(0, 1);
  constexpr double nearly_eight = 7.9;  // bits
  if (entropy(all.counts) > nearly_eight) {
    return {ooc::DType{ElementType::u1},
            "every byte is as frequent as any other: full-range integers, or data that are "
            "compressed or encrypted"};
  }
  return {integer(1, has_both_signs(all), false), "no pattern of 2, 4 or 8 bytes repeats"};
}

/// Returns the groups of eight bytes that are not all 0: zeros fit every type.
std::vector<std::byte> without_zeros(std::span<const std::byte> sample) {
  std::vector<std::byte> rest;
  for (; sample.size() >= widest; sample = sample.subspan(widest)) {
    const auto group = sample.first(widest);
    const bool zero =
        std::ranges::all_of(group, [](std::byte byte) { return byte == std::byte{}; });
    if (!zero) rest.insert(rest.end(), group.begin(), group.end());
  }
  return rest;
}

}  // namespace

TypeGuess guess_type(std::span<const std::byte> all, std::uint64_t data_bytes) {
  const std::vector<std::byte> sample = without_zeros(all);
  constexpr std::size_t least_bytes = 512;  // fewer are not enough evidence
  if (sample.size() < least_bytes) {
    return {{}, all.size() < least_bytes ? "too few bytes to tell" : "nearly all bytes are 0"};
  }
  if (std::ranges::adjacent_find(sample, std::not_equal_to<>()) == sample.end()) {
    return {{}, fmt::format("all bytes are {:#04x}", std::to_integer<int>(sample.front()))};
  }
  const BytePositions positions(sample);
  // Check for text first: lines of equal length have patterns, and letters make usual floats.
  if (is_text(positions)) return {{}, "it is text, not numbers", Evidence::text};
  std::size_t width = positions.width();
  while (data_bytes % width != 0) width /= 2;
  // Pairs of f4 also have a pattern of 8 bytes. An f8 read as two f4 would give a 0 or odd value.
  constexpr std::size_t f4_bytes = 4;
  constexpr double in_pairs = 0.75, in_all = 0.01;
  if (width == 2 * f4_bytes) {
    if (auto guess = guess_float(sample, f4_bytes, in_pairs)) return *guess;
  }
  for (std::size_t narrower = width; narrower > 1; narrower /= 2) {
    if (auto guess = guess_float(sample, narrower, in_all)) return *guess;
    if (auto guess = guess_small_integer(positions, sample, narrower)) return *guess;
  }
  return width > 1 ? guess_large_integer(positions, width) : guess_bytes(positions);
}

double odd_share(std::span<const std::byte> sample, ooc::DType type) {
  const auto usual = std::ranges::find(habits, type.element, &FloatHabits::element);
  if (usual == habits.end()) return 0;
  double values = 0, odd = 0;
  for_each_value(sample, type, [&](double value) {
    if (value == 0) return;
    const double size = std::abs(value);
    ++values;
    odd += !(size >= usual->smallest && size <= usual->largest);  // true for NaN
  });
  return values == 0 ? 0 : odd / values;
}

}  // namespace ooc_run
