#include <ooc/io/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "histogram_count.hpp"

namespace ooc::binning {

namespace {

/// Loops over a block: the compiler knows their length and makes vector instructions of them.
constexpr std::size_t block_elements = 512;

/// Chooses among a function's versions for the levels of vector instructions.
template <class Function>
Function for_level(Simd simd, Function sse2, Function avx2, Function avx512) {
  switch (simd) {
    case Simd::sse2: return sse2;
    case Simd::avx2: return avx2;
    case Simd::avx512: return avx512;
  }
  __builtin_unreachable();
}

template <class T>
const T* elements(DeviceSpan<const std::byte> data) {
  return reinterpret_cast<const T*>(data.data);
}

// --- counters -----------------------------------------------------------------------------------

/// A counter for each key. They are of 32 bits, so that more of them stay close to the processor,
/// and must be emptied before they overflow. Where keys are few, several tables take turns, so that
/// equal keys in a row need not wait for each other.
class Tables {
 public:
  explicit Tables(std::size_t keys)
      : keys_(keys),
        tables_(keys <= 4096    ? 4
                : keys <= 65536 ? 2
                                : 1),
        counters_(keys * tables_) {}

  std::size_t keys() const { return keys_; }
  bool has_room_for(std::size_t count) const {
    return count <= std::numeric_limits<std::uint32_t>::max() - held_;
  }

  template <class Key>
  void add(const Key* keys, std::size_t count) {
    held_ += count;
    std::uint32_t* const first = counters_.data();
    std::uint32_t* const second = first + 1 % tables_ * keys_;
    std::uint32_t* const third = first + 2 % tables_ * keys_;
    std::uint32_t* const fourth = first + 3 % tables_ * keys_;
    const std::size_t whole = count - count % 4;
    for (std::size_t i = 0; i < whole; i += 4) {
      ++first[keys[i]];
      ++second[keys[i + 1]];
      ++third[keys[i + 2]];
      ++fourth[keys[i + 3]];
    }
    for (std::size_t i = whole; i < count; ++i) ++first[keys[i]];
  }

  /// Empties all counters: `add(key, count)` gets what was in them.
  template <class Add>
  void empty(Add add) {
    for (std::size_t key = 0; key < keys_; ++key) {
      std::uint64_t count = 0;
      for (std::size_t table = 0; table < tables_; ++table) {
        count += std::exchange(counters_[table * keys_ + key], 0);
      }
      if (count != 0) add(key, count);
    }
    held_ = 0;
  }

 private:
  std::size_t keys_;
  std::size_t tables_;
  std::vector<std::uint32_t> counters_;
  std::uint64_t held_ = 0;  // the sum of all counters
};

/// Elements of one or two bytes: counts each pattern of bits, and looks for its bin at the end.
template <class T>
class PatternCounter final : public BinCounter {
 public:
  explicit PatternCounter(const Bins& bins)
      : bins_(bins), patterns_(std::size_t{1} << 8 * sizeof(T)), counts_(bins.counters()) {}

  void count(Stream& /*stream*/, DeviceSpan<const std::byte> data) override {
    const std::size_t count = data.size / sizeof(T);
    if (!patterns_.has_room_for(count)) empty();
    patterns_.add(elements<Pattern>(data), count);
  }

  std::vector<std::uint64_t> finish(Stream& /*stream*/) override {
    empty();
    return std::move(counts_);
  }

 private:
  using Pattern = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;

  void empty() {
    visit(bins_, [this](const auto& bins) {
      patterns_.empty([&](std::size_t pattern, std::uint64_t count) {
        const T value = std::bit_cast<T>(static_cast<Pattern>(pattern));
        counts_[bins.bin_of(to_double(value))] += count;
      });
    });
  }

  const Bins& bins_;
  Tables patterns_;
  std::vector<std::uint64_t> counts_;
};

template <class T>
[[gnu::always_inline]] inline void find_bins(const EvenBins& bins, const T* __restrict values,
                                             std::uint32_t* __restrict numbers) {
  const EvenBins local = bins;  // which the stores cannot change
  for (std::size_t i = 0; i < block_elements; ++i) numbers[i] = local.bin_of(to_double(values[i]));
}

/// All values take a step of their searches before any takes the next, so that none of them waits
/// for its own.
template <class T>
[[gnu::always_inline]] inline void find_bins(const ListedBins& bins, const T* __restrict values,
                                             std::uint32_t* __restrict numbers) {
  const ListedBins local = bins;
  alignas(64) std::int32_t found[block_elements] = {};
  for (std::int32_t left = local.last + 1; left > 1; left -= left / 2) {
    const std::int32_t distance = left / 2;
    for (std::size_t i = 0; i < block_elements; ++i) {
      found[i] = local.nearer(found[i], distance, to_double(values[i]));
    }
  }
  for (std::size_t i = 0; i < block_elements; ++i) {
    numbers[i] = local.number_of(found[i], to_double(values[i]));
  }
}

template <class T, class Bins>
void find_bins_sse2(const Bins& bins, const T* values, std::uint32_t* numbers) {
  find_bins(bins, values, numbers);
}

template <class T, class Bins>
[[gnu::target("avx2,f16c")]] void find_bins_avx2(const Bins& bins, const T* values,
                                                 std::uint32_t* numbers) {
  find_bins(bins, values, numbers);
}

template <class T, class Bins>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] void
find_bins_avx512(const Bins& bins, const T* values, std::uint32_t* numbers) {
  find_bins(bins, values, numbers);
}

/// Elements of four or eight bytes: finds the bins of a block, then counts them.
template <class T, class Found>
class NumberCounter final : public BinCounter {
 public:
  NumberCounter(const Found& bins, Simd simd)
      : bins_(bins),
        find_bins_(for_level(simd, find_bins_sse2<T, Found>, find_bins_avx2<T, Found>,
                             find_bins_avx512<T, Found>)),
        tables_(static_cast<std::size_t>(bins.nan()) + 1),
        counts_(tables_.keys()) {}

  void count(Stream& /*stream*/, DeviceSpan<const std::byte> data) override {
    const std::size_t count = data.size / sizeof(T);
    if (!tables_.has_room_for(count)) empty();
    const T* const values = elements<T>(data);
    alignas(64) std::array<std::uint32_t, block_elements> numbers;  // no store crosses cache lines
    const std::size_t whole = count - count % block_elements;
    for (std::size_t i = 0; i < whole; i += block_elements) {
      find_bins_(bins_, values + i, numbers.data());
      tables_.add(numbers.data(), block_elements);
    }
    if (whole == count) return;
    std::array<T, block_elements> rest{};
    std::copy(values + whole, values + count, rest.begin());
    find_bins_(bins_, rest.data(), numbers.data());
    tables_.add(numbers.data(), count - whole);
  }

  std::vector<std::uint64_t> finish(Stream& /*stream*/) override {
    empty();
    return std::move(counts_);
  }

 private:
  void empty() {
    tables_.empty([this](std::size_t number, std::uint64_t count) { counts_[number] += count; });
  }

  Found bins_;
  void (*find_bins_)(const Found&, const T*, std::uint32_t*);
  Tables tables_;
  std::vector<std::uint64_t> counts_;
};

// --- extremes -----------------------------------------------------------------------------------

/// An element as an integer: itself, or for floating types its bits.
template <std::size_t bytes>
using Signed = std::conditional_t<bytes == 2, std::int16_t,
                                  std::conditional_t<bytes == 4, std::int32_t, std::int64_t>>;
template <class T>
using Key = std::conditional_t<is_floating<T>, Signed<sizeof(T)>, T>;

/// The bits of the exponent, all of which are set if the value is not finite.
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

/// Makes an integer that is ordered as the values are, or undoes it: negative values are the
/// lower the larger their bits, so all of these but the sign are inverted.
template <class T>
constexpr Key<T> ordered(Key<T> bits) {
  if constexpr (!is_floating<T>) {
    return bits;
  } else {
    constexpr int sign_shift = 8 * sizeof(T) - 1;
    return static_cast<Key<T>>(bits ^ ((bits >> sign_shift) & std::numeric_limits<Key<T>>::max()));
  }
}

/// The lowest and highest finite value, ordered, and how many values are not finite.
template <class T>
struct KeyRange {
  using Count = std::make_unsigned_t<Key<T>>;
  Key<T> lowest = std::numeric_limits<Key<T>>::max();
  Key<T> highest = std::numeric_limits<Key<T>>::lowest();
  Count not_finite = 0;

  /// Selects by masks, of which the compiler does not make jumps.
  void add(Key<T> bits) {
    using Limits = std::numeric_limits<Key<T>>;
    Key<T> out = 0;  // all bits if the value is not finite
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

/// Bits that lie where elements of type T do.
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

std::unique_ptr<BinCounter> make_cpu_counter(ElementType type, const Bins& bins, Simd simd) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<BinCounter> {
    if constexpr (sizeof(T) <= 2) {
      return std::make_unique<PatternCounter<T>>(bins);
    } else {
      return visit(bins, [&]<class Found>(const Found& found) -> std::unique_ptr<BinCounter> {
        return std::make_unique<NumberCounter<T, Found>>(found, simd);
      });
    }
  });
}

std::unique_ptr<ExtremesFinder> make_cpu_finder(ElementType type, Simd simd) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<ExtremesFinder> {
    return std::make_unique<CpuFinder<T>>(simd);
  });
}

}  // namespace ooc::binning
