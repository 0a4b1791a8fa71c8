#include "dataset/generator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <ooc/detail/base/random_words.hpp>
#include <ooc/error.hpp>
#include <type_traits>

namespace ooc_run {
namespace {

using ooc::detail::RandomWords;

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Returns the largest n for which the type represents every integer below 2^n exactly.
template <class T>
constexpr unsigned exact_bits() {
  if constexpr (std::is_same_v<T, ooc::Float16>)
    return 11;
  else if constexpr (std::is_same_v<T, ooc::BFloat16>)
    return 8;
  else
    return static_cast<unsigned>(std::numeric_limits<T>::digits);
}

template <class T>
constexpr unsigned fraction_bits_of(Pattern pattern) {
  if (!ooc::is_floating<T>) return 0;
  if (pattern == Pattern::uniform) return exact_bits<T>();
  if (pattern == Pattern::normal) return std::min(10u, exact_bits<T>() - 3);  // magnitudes < 6
  return 0;
}

/// Returns k * unit as an element. The result is exact.
template <class T>
constexpr T encode(std::int64_t k, double unit) {
  const double value = static_cast<double>(k) * unit;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if constexpr (std::is_same_v<T, ooc::BFloat16>) {
      return {static_cast<std::uint16_t>(bits >> 16)};
    } else {
      // Each value is zero or a normal binary16 number. Its exponent has bias 15 instead of 127.
      const std::uint32_t magnitude = bits & 0x7fffffffu;
      const std::uint32_t moved = magnitude == 0 ? 0 : (magnitude >> 13) - (112u << 10);
      return {static_cast<std::uint16_t>(moved | (bits >> 31 << 15))};
    }
  }
}

/// The type of the integer k of an element of type T.
template <class T>
using Integer = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;

/// Stores elements one after another and sums their integers.
template <class T>
class Writer {
 public:
  Writer(std::span<std::byte> data, unsigned fraction)
      : target_(data.data()), unit_(1.0 / static_cast<double>(std::uint64_t{1} << fraction)) {}

  void put(Integer<T> k) {
    T element;
    if constexpr (ooc::is_floating<T>)
      element = encode<T>(k, unit_);
    else
      element = static_cast<T>(k);
    std::memcpy(target_, &element, sizeof element);
    target_ += sizeof element;
    sum_ += k;
  }

  ooc::int128 sum() const { return sum_; }

 private:
  // The sum of the narrow elements of a block fits 64 bits, which are faster.
  using Sum = std::conditional_t<sizeof(T) == 8, ooc::int128, std::int64_t>;

  std::byte* target_;
  double unit_;
  Sum sum_ = 0;
};

/// Fills with Pattern::uniform: each random word gives as many elements as fit in it.
template <class T>
ooc::int128 fill_uniform(const Generator& generator, std::uint64_t first,
                         std::span<std::byte> data) {
  constexpr std::size_t per_word = word_bytes / sizeof(T);
  constexpr unsigned element_bits = 8 * sizeof(T);
  constexpr unsigned kept = ooc::is_floating<T> ? exact_bits<T>() : element_bits;
  const RandomWords hash(generator.seed);
  Writer<T> writer(data, generator.fraction_bits());
  const auto put = [&](std::uint64_t word, std::size_t part) {
    const std::uint64_t bits = word << (64 - element_bits * (part + 1)) >> (64 - kept);
    if constexpr (ooc::is_floating<T>)
      writer.put(static_cast<std::int64_t>(bits));
    else
      writer.put(static_cast<Integer<T>>(static_cast<T>(bits)));
  };
  const std::size_t count = data.size() / sizeof(T);
  std::uint64_t index = first / per_word;
  for (std::size_t i = 0; i < count / per_word; ++i) {
    const std::uint64_t word = hash(index++);
    for (std::size_t part = 0; part < per_word; ++part) put(word, part);
  }
  for (std::size_t part = 0; part < count % per_word; ++part) put(hash(index), part);
  return writer.sum();
}

/// Returns the sum of six 10-bit fields of each of two words, less its mean. The standard deviation
/// is 1024, the magnitude at most 6138.
constexpr std::int64_t normal_integer(std::uint64_t left, std::uint64_t right) {
  constexpr std::uint64_t every_second = 0x3ffull | 0x3ffull << 20 | 0x3ffull << 40;
  constexpr std::uint64_t field = (1u << 20) - 1;
  const std::uint64_t sums = (left & every_second) + (left >> 10 & every_second) +
                             (right & every_second) + (right >> 10 & every_second);
  const std::uint64_t sum = (sums & field) + (sums >> 20 & field) + (sums >> 40 & field);
  return static_cast<std::int64_t>(sum) - 12 * 1023 / 2;
}

/// Divides by 2^bits and rounds to the nearest integer; multiplies if `bits` is negative.
constexpr std::int64_t scale_down(std::int64_t k, int bits) {
  if (bits <= 0) return k * (std::int64_t{1} << -bits);
  return (k + (std::int64_t{1} << (bits - 1))) >> bits;
}

template <class T>
Integer<T> normal_element(const RandomWords& hash, std::uint64_t index) {
  constexpr int deviation_bits = 10;
  const std::int64_t k = normal_integer(hash(2 * index), hash(2 * index + 1));
  if constexpr (ooc::is_floating<T>) {
    constexpr auto fraction = static_cast<int>(fraction_bits_of<T>(Pattern::normal));
    return scale_down(k, deviation_bits - fraction);
  } else {
    constexpr int element_bits = 8 * sizeof(T);
    const auto scaled =
        static_cast<std::uint64_t>(scale_down(k, deviation_bits - (element_bits - 4)));
    constexpr std::uint64_t middle =
        std::is_unsigned_v<T> ? std::uint64_t{1} << (element_bits - 1) : 0;
    return static_cast<Integer<T>>(static_cast<T>(middle + scaled));
  }
}

template <class T>
Integer<T> zipf_element(const RandomWords& hash, std::uint64_t index) {
  // The number of leading zeros selects the octave: half of all words have none, a quarter have
  // one, and so on. The low bits select the value within it. The octave is at most 31, so that the
  // two groups of bits do not overlap.
  constexpr unsigned last_octave = std::min(31u, exact_bits<T>() - 1);
  const std::uint64_t word = hash(index);
  const unsigned octave = std::min(static_cast<unsigned>(std::countl_zero(word)), last_octave);
  const std::uint64_t start = std::uint64_t{1} << octave;
  return static_cast<Integer<T>>(start + (word & (start - 1)));
}

template <class T>
Integer<T> sequence_element(std::uint64_t index) {
  return static_cast<Integer<T>>(index & (~std::uint64_t{0} >> (64 - exact_bits<T>())));
}

template <class T, class Element>
ooc::int128 fill_each(const Generator& generator, std::uint64_t first, std::span<std::byte> data,
                      Element element) {
  Writer<T> writer(data, generator.fraction_bits());
  const std::size_t count = data.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) writer.put(element(first + i));
  return writer.sum();
}

template <class T>
void swap_elements(std::span<std::byte> data) {
  for (std::size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
    std::ranges::reverse(data.subspan(i, sizeof(T)));
  }
}

/// Fills with the index of each 8-byte word, then sums the data as elements of type T.
template <class T>
ooc::int128 fill_positions(std::uint64_t first, std::span<std::byte> data, bool swapped) {
  std::uint64_t word = first * sizeof(T) / word_bytes;
  for (std::size_t i = 0; i < data.size(); i += word_bytes, ++word) {
    std::memcpy(data.data() + i, &word, std::min(word_bytes, data.size() - i));
  }
  ooc::int128 sum = 0;
  if constexpr (!ooc::is_floating<T>) {
    for (std::size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
      std::array<std::byte, sizeof(T)> bytes;
      std::memcpy(bytes.data(), data.data() + i, sizeof(T));
      if (swapped) std::ranges::reverse(bytes);
      sum += std::bit_cast<T>(bytes);
    }
  }
  return sum;
}

template <class T>
ooc::int128 fill_native(const Generator& generator, std::uint64_t first,
                        std::span<std::byte> data) {
  const RandomWords hash(generator.seed);
  const auto each = [&](auto element) { return fill_each<T>(generator, first, data, element); };
  switch (generator.pattern) {
    case Pattern::uniform: return fill_uniform<T>(generator, first, data);
    case Pattern::normal:
      return each([&](std::uint64_t index) { return normal_element<T>(hash, index); });
    case Pattern::sequence:
      return each([](std::uint64_t index) { return sequence_element<T>(index); });
    case Pattern::constant:
      return each([&](std::uint64_t) { return static_cast<Integer<T>>(generator.value); });
    case Pattern::zipf:
      return each([&](std::uint64_t index) { return zipf_element<T>(hash, index); });
    case Pattern::position: break;
  }
  return fill_positions<T>(first, data, generator.type.swapped);
}

}  // namespace

ooc::int128 Generator::fill(std::uint64_t first, std::span<std::byte> data) const {
  return ooc::visit(type.element, [&]<class T>(std::type_identity<T>) {
    const ooc::int128 sum = fill_native<T>(*this, first, data);
    if (type.swapped && pattern != Pattern::position) swap_elements<T>(data);
    return sum;
  });
}

unsigned Generator::fraction_bits() const {
  return ooc::visit(type.element,
                    [&]<class T>(std::type_identity<T>) { return fraction_bits_of<T>(pattern); });
}

bool Generator::has_sum() const {
  return ooc::visit(type.element, [&]<class T>(std::type_identity<T>) {
    return pattern != Pattern::position || !ooc::is_floating<T>;
  });
}

void Generator::check() const {
  const bool fits = ooc::visit(type.element, [&]<class T>(std::type_identity<T>) {
    if constexpr (ooc::is_floating<T>) {
      const std::int64_t most = std::int64_t{1} << exact_bits<T>();
      return -most <= value && value <= most;
    } else {
      return std::in_range<T>(value);
    }
  });
  if (!fits) {
    throw ooc::Error(ooc::ErrorKind::usage, fmt::format("--value {} is not an exact value of {}",
                                                        value, ooc::name_of(type.element)));
  }
}

}  // namespace ooc_run
