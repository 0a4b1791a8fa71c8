#include <ooc/detail/content/type_guess.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <locale>
#include <sstream>
#include <utility>
#include <vector>

#include "content/byte_positions.hpp"
#include "content/sample_values.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t widest = BytePositions::widest;
constexpr double most = 0.9;  // fraction of values that is sufficient evidence

/// Returns a fraction as a percentage without digits behind the point: "99".
std::string percent(double fraction) {
  return std::to_string(static_cast<int>(std::floor(fraction * 100)));
}

/// Returns a number with at most six significant digits.
std::string short_number(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << value;
  return text.str();
}

/// Returns the fraction of values in the usual range, without 0, NaN and a fill value,
/// that is, an odd value that is repeated. Returns 0 if the remaining values are less
/// than a fraction `least_telling` of all, or if the entropy of their exponents is
/// unusual.
double usual_share(std::span<const std::byte> sample, DType type, const FloatHabits& usual,
                   double least_telling) {
  constexpr std::size_t exponents = 2200;
  constexpr int smallest_exponent = -1100;
  std::array<double, exponents> by_exponent{};
  std::vector<double> odd;
  double values = 0, telling = 0, usual_values = 0;
  for_each_value(sample, type, [&](double value) {
    ++values;
    if (value == 0 || std::isnan(value)) return;
    ++telling;
    const double size = std::abs(value);
    if (!usual.has(size)) return odd.push_back(value);
    ++usual_values;
    ++by_exponent[static_cast<std::size_t>(std::ilogb(size) - smallest_exponent)];
  });
  telling -= static_cast<double>(repetitions(std::move(odd)));  // do not count a fill value
  if (telling < 1 || telling < least_telling * values) return 0;
  const double bits = entropy_of(by_exponent);
  if (bits < usual.least_entropy || bits > usual.most_entropy) return 0;
  return usual_values / telling;
}

/// True if one of the lower bytes is random, or has all values equally often, as in numbers with a
/// constant step. Also true if the lowest byte is 0, as in round numbers.
bool has_low_digits(const BytePositions& positions, std::size_t width, bool swapped) {
  constexpr double nearly_eight = 7.85;  // bits
  for (std::size_t i = 0; i < width / 2; ++i) {
    const std::size_t position = swapped ? width - 1 - i : i;
    const ByteCounts bytes = positions.at(position, width);
    if (i == 0 && bytes.share(0) > most) return true;
    if (bytes.entropy() > nearly_eight || positions.is_noise(position, width)) return true;
  }
  return false;
}

std::optional<TypeGuess> guess_float(const BytePositions& positions,
                                     std::span<const std::byte> sample, std::size_t width,
                                     double least_telling) {
  std::optional<TypeGuess> best;
  double best_share = most;
  for (const FloatHabits& usual : float_habits) {
    if (size_of(usual.element) != width) continue;
    for (const bool swapped : {false, true}) {
      const DType type{usual.element, swapped};
      const double share = usual_share(sample, type, usual, least_telling);
      if (share <= best_share) continue;
      best_share = share;
      best = {.type = type,
              .reason = percent(share) + " % of the numbers would be between " +
                        short_number(usual.smallest) + " and " + short_number(usual.largest) +
                        " in size",
              .is_sure = has_low_digits(positions, width, swapped)};
    }
  }
  return best;
}

DType integer(std::size_t width, bool is_signed, bool swapped) {
  constexpr std::array unsigned_types{ElementType::u1, ElementType::u2, ElementType::u4,
                                      ElementType::u8};
  constexpr std::array signed_types{ElementType::i1, ElementType::i2, ElementType::i4,
                                    ElementType::i8};
  const auto power = static_cast<std::size_t>(std::countr_zero(width));
  return {is_signed ? signed_types[power] : unsigned_types[power], swapped && width > 1};
}

bool never_falls(std::span<const std::byte> sample, const DType& type) {
  double before = 0, pairs = -1, falls = 0, rises = 0;
  for_each_value(sample, type, [&](double value) {
    ++pairs;
    falls += pairs > 0 && value < before;
    rises += pairs > 0 && value > before;
    before = value;
  });
  constexpr double pieces = 64;  // more than a sample has: values may fall between pieces
  return pairs > 2 * pieces && falls < pieces && rises > pairs / 2;
}

/// True if the numbers rise in the other byte order only, as times and offsets do.
bool rises_swapped_only(std::span<const std::byte> sample, const DType& type) {
  return never_falls(sample, {type.element, !type.swapped}) && !never_falls(sample, type);
}

/// True if the bytes certainly belong to integers: lower bytes are more random than higher ones,
/// and the lowest is noise or the numbers rise; or the upper half of the bytes is 0. The lowest
/// bytes of numbers that rise by multiples of a unit, such as times, have fewer values.
bool is_surely_integer(const BytePositions& positions, std::size_t width, bool swapped,
                       bool rises) {
  const auto at = [&](std::size_t i) {  // the lowest byte is at 0
    return positions.at(swapped ? width - 1 - i : i, width);
  };
  std::size_t first = 0;
  while (rises && first + 1 < width && at(first + 1).entropy() > at(first).entropy()) ++first;
  double below = std::numeric_limits<double>::infinity();  // entropy of the next lower byte
  double highest = 0;                                      // that of the highest byte that varies
  std::size_t zeros = 0;
  bool falls_off = true;
  for (std::size_t i = first; i < width; ++i) {
    const ByteCounts bytes = at(i);
    constexpr double tolerance = 0.5, all = 0.99;
    falls_off = falls_off && bytes.entropy() < below + tolerance;
    below = bytes.entropy();
    if (below > 0.02) highest = below;
    zeros = bytes.share(0) > all ? zeros + 1 : 0;
  }
  if (zeros >= width / 2) return highest > 0;
  const double digits = at(first).entropy();
  return falls_off && below < digits - 1 && highest < digits - 0.3 &&
         (rises || positions.is_noise(swapped ? width - 1 : 0, width));
}

/// Guesses an integer type if the highest byte of most values is 0 or all ones.
std::optional<TypeGuess> guess_small_integer(const BytePositions& positions,
                                             std::span<const std::byte> sample, std::size_t width) {
  for (const bool swapped : {false, true}) {
    const ByteCounts top = positions.at(swapped ? 0 : width - 1, width);
    const double zeros = top.share(0x00), ones = top.share(0xff);
    if (zeros + ones < most) continue;
    constexpr double some = 0.001;
    const DType type = integer(width, ones > some, swapped);
    if (rises_swapped_only(sample, type)) continue;  // the lowest byte of multiples may be 0
    std::string reason = "the highest byte of " + percent(zeros + ones) +
                         " % of the numbers would be " + (ones > some ? "0 or all ones" : "0");
    const bool rises = never_falls(sample, type);
    if (rises) reason += ", and they do not fall, like offsets or times";
    return TypeGuess{.type = type,
                     .reason = std::move(reason),
                     .is_sure = is_surely_integer(positions, width, swapped, rises)};
  }
  return {};
}

/// True if the highest bytes are those of small positive and small negative numbers.
bool has_both_signs(const ByteCounts& top) {
  const double positive = top.share(0, 64), negative = top.share(192, 256);
  constexpr double some = 0.1, nearly_all = 0.95;
  return positive > some && negative > some && positive + negative > nearly_all;
}

TypeGuess guess_large_integer(const BytePositions& positions, std::span<const std::byte> sample,
                              std::size_t width) {
  const auto bits_at = [&](std::size_t position) {
    return positions.at(position, width).entropy();
  };
  const bool high_first = bits_at(0) < bits_at(width - 1) && positions.at(0, width).is_narrow();
  const bool swapped =
      rises_swapped_only(sample, integer(width, false, high_first)) ? !high_first : high_first;
  const ByteCounts top = positions.at(swapped ? 0 : width - 1, width);
  const DType type = integer(width, has_both_signs(top), swapped);
  const bool rises = never_falls(sample, type);
  return {.type = type,
          .reason = "a pattern repeats every " + std::to_string(width) +
                    " bytes, which would be odd floats",
          .evidence = Evidence::pattern,
          .is_sure = top.is_narrow() && is_surely_integer(positions, width, swapped, rises)};
}

std::optional<TypeGuess> surely_large_integer(const BytePositions& positions,
                                              std::span<const std::byte> sample,
                                              std::size_t width) {
  TypeGuess guess = guess_large_integer(positions, sample, width);
  return guess.is_sure ? std::optional(std::move(guess)) : std::nullopt;
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
  if (all.entropy() > nearly_eight) {
    return {DType{ElementType::u1},
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
    return {{}, "all bytes are " + std::to_string(std::to_integer<int>(sample.front()))};
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
    if (auto guess = guess_float(positions, sample, f4_bytes, in_pairs)) return *guess;
  }
  for (std::size_t narrower = width; narrower > 1; narrower /= 2) {
    auto guess = guess_float(positions, sample, narrower, in_all);
    if (!guess) guess = guess_small_integer(positions, sample, narrower);
    if (narrower == width && !guess) guess = surely_large_integer(positions, sample, width);
    if (!guess) continue;
    guess->is_sure = guess->is_sure && narrower == width;
    return *guess;
  }
  return width > 1 ? guess_large_integer(positions, sample, width) : guess_bytes(positions);
}

std::string range_of(std::span<const std::byte> sample, const DType& type) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for_each_value(sample, type, [&](double value) {
    least = std::min(least, value);  // NaN is never less
    largest = std::max(largest, value);
  });
  return "from " + short_number(least) + " to " + short_number(largest);
}

}  // namespace ooc::detail
