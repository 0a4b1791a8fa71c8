#include "histogram/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace ooc::detail::binning {

namespace {

/// The integer type that holds an element: its own type, or that of a float's bits.
template <std::size_t bytes>
using Signed = std::conditional_t<bytes == 2, std::int16_t,
                                  std::conditional_t<bytes == 4, std::int32_t, std::int64_t>>;
template <class T>
using Key = std::conditional_t<is_floating<T>, Signed<sizeof(T)>, T>;

/// The bits of the exponent. All of them are set in infinities and NaN.
template <class T>
constexpr Key<T> exponent_bits() {
  if constexpr (std::is_same_v<T, double>)
    return 0x7ff0'0000'0000'0000;
  else if constexpr (std::is_same_v<T, float>)
    return 0x7f80'0000;
  else if constexpr (std::is_same_v<T, Float16>)
    return 0x7c00;
  else
    return 0x7f80;
}

/// Maps the bits of a value to an integer that is ordered as the values are, or back. For negative
/// values, all bits but the sign are inverted, since larger bits mean a lower value.
template <class T>
constexpr Key<T> ordered(Key<T> bits) {
  if constexpr (!is_floating<T>) {
    return bits;
  } else {
    constexpr int sign_shift = 8 * sizeof(T) - 1;
    return static_cast<Key<T>>(bits ^ ((bits >> sign_shift) & std::numeric_limits<Key<T>>::max()));
  }
}

/// The lowest and highest finite value, as ordered keys, and the number of values that are not
/// finite.
template <class T>
struct KeyRange {
  using Count = std::make_unsigned_t<Key<T>>;
  Key<T> lowest = std::numeric_limits<Key<T>>::max();
  Key<T> highest = std::numeric_limits<Key<T>>::lowest();
  Count not_finite = 0;

  /// Selects by masks, since the compiler would turn other selections into jumps.
  void add(Key<T> bits) {
    using Limits = std::numeric_limits<Key<T>>;
    Key<T> out = 0;  // all bits set if the value is not finite
    if constexpr (is_floating<T>) {
      out = (bits & exponent_bits<T>()) == exponent_bits<T>() ? Key<T>{-1} : Key<T>{0};
    }
    const Key<T> key = static_cast<Key<T>>(ordered<T>(bits) & ~out);
    const Key<T> low = static_cast<Key<T>>(key | (out & Limits::max()));
    const Key<T> high = static_cast<Key<T>>(key | (out & Limits::lowest()));
    lowest = low < lowest ? low : lowest;
    highest = high > highest ? high : highest;
    not_finite = static_cast<Count>(not_finite - static_cast<Count>(out));
  }
};

/// A key that may alias elements of type T.
template <class T>
using AliasingKey [[gnu::may_alias]] = Key<T>;

template <class T>
[[gnu::always_inline]] inline KeyRange<T> range_of(const AliasingKey<T>* values) {
  KeyRange<T> range;
  for (std::size_t i = 0; i < block_elements; ++i) range.add(values[i]);
  return range;
}

template <class T>
KeyRange<T> range_of_sse2(const AliasingKey<T>* values) {
  return range_of<T>(values);
}

template <class T>
[[gnu::target("avx2,f16c")]] KeyRange<T> range_of_avx2(const AliasingKey<T>* values) {
  return range_of<T>(values);
}

template <class T>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] KeyRange<T>
range_of_avx512(const AliasingKey<T>* values) {
  return range_of<T>(values);
}

template <class T>
class CpuFinder final : public ExtremesFinder {
 public:
  explicit CpuFinder(Simd simd)
      : range_of_(for_level(simd, range_of_sse2<T>, range_of_avx2<T>, range_of_avx512<T>)) {}

  void look(Stream& /*stream*/, DeviceSpan<const std::byte> data) override {
    const std::size_t count = data.size / sizeof(T);
    const auto* const values = elements<AliasingKey<T>>(data);
    const std::size_t whole = count - count % block_elements;
    for (std::size_t i = 0; i < whole; i += block_elements) {
      take(range_of_(values + i), values + i, block_elements);
    }
    KeyRange<T> rest;
    for (std::size_t i = whole; i < count; ++i) rest.add(values[i]);
    take(rest, values + whole, count - whole);
  }

  Extremes finish(Stream& /*stream*/) override {
    if (lowest_ <= highest_) {
      extremes_.lowest = to_double(std::bit_cast<T>(ordered<T>(lowest_)));
      extremes_.highest = to_double(std::bit_cast<T>(ordered<T>(highest_)));
    }
    return extremes_;
  }

 private:
  void take(const KeyRange<T>& range, const AliasingKey<T>* values, std::size_t count) {
    lowest_ = std::min(lowest_, range.lowest);
    highest_ = std::max(highest_, range.highest);
    if (range.not_finite == 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = to_double(std::bit_cast<T>(values[i]));
      if (std::isnan(value)) ++extremes_.nan;
      if (std::isinf(value))
        ++(value < 0 ? extremes_.negative_infinities : extremes_.positive_infinities);
    }
  }

  KeyRange<T> (*range_of_)(const AliasingKey<T>*);
  Key<T> lowest_ = std::numeric_limits<Key<T>>::max();
  Key<T> highest_ = std::numeric_limits<Key<T>>::lowest();
  Extremes extremes_;
};

}  // namespace

void Extremes::merge(const Extremes& other) {
  lowest = std::min(lowest, other.lowest);
  highest = std::max(highest, other.highest);
  nan += other.nan;
  negative_infinities += other.negative_infinities;
  positive_infinities += other.positive_infinities;
}

std::unique_ptr<ExtremesFinder> make_cpu_finder(ElementType type, Simd simd) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<ExtremesFinder> {
    return std::make_unique<CpuFinder<T>>(simd);
  });
}

}  // namespace ooc::detail::binning
