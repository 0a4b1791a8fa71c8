#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "histogram/key_counters.hpp"

namespace ooc::detail::binning {

namespace {

/// Counter for elements of one or two bytes: counts bit patterns, and maps them to bins at the end.
template <class T, class Found>
class PatternCounter final : public BinCounter {
 public:
  PatternCounter(const Found& bins, Simd simd) : bins_(bins), patterns_(make_patterns(simd)) {}

  void count(Stream& /*stream*/, DeviceSpan<const std::byte> data) override {
    patterns_.add(elements<Pattern>(data), data.size / sizeof(T));
  }

  void add_to(std::span<std::uint64_t> counts) override {
    patterns_.empty([&](std::size_t pattern, std::uint64_t count) {
      counts[number_in(bins_, std::bit_cast<T>(static_cast<Pattern>(pattern)))] += count;
    });
  }

 private:
  using Pattern = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
  using Patterns = std::conditional_t<sizeof(T) == 1, BytePairs, Tables>;

  static Patterns make_patterns(Simd simd) {
    if constexpr (sizeof(T) == 1) {
      return BytePairs(simd);
    } else {
      return Tables(std::size_t{1} << 16);
    }
  }

  Found bins_;
  Patterns patterns_;
};

template <class T>
[[gnu::always_inline]] inline void find_bins(const EvenBins& bins, const T* __restrict values,
                                             std::uint32_t* __restrict numbers) {
  const EvenBins local = bins;  // a copy, since stores to `numbers` might alias `bins`
  for (std::size_t i = 0; i < block_elements; ++i) numbers[i] = local.bin_of(to_double(values[i]));
}

/// Even bins for elements of four bytes. A guess in single precision handles twice as many values
/// at a time, in fewer steps. Values so close to an edge that the guess may be wrong are computed
/// again in double precision. On a Sapphire Rapids core, 256 bins of normal f4 take 6.0 GB/s
/// instead of 3.5; where many values are on edges, 3.4.
struct GuessedBins : EvenBins {
  float float_scale;
  float float_offset;  // position of zero, in bins from the lower end
  float error;         // bound on the error of a position, in bins
  // Number of blocks to process without guesses, after a block in which no guess was safe.
  std::uint32_t exact_blocks = 0;

  explicit GuessedBins(const EvenBins& bins)
      : EvenBins(bins),
        float_scale(static_cast<float>(scale)),
        float_offset(static_cast<float>(-lower * scale)),
        error(static_cast<float>(error_of(bins))) {}

  /// True if few guesses must be computed again, and if the scale is a normal float.
  static bool suit(const EvenBins& bins) {
    using Limits = std::numeric_limits<float>;
    return error_of(bins) < 0x1p-10 && bins.scale >= Limits::min() && bins.scale <= Limits::max();
  }

 private:
  /// Bound on five roundings, each at most 2^-24 of the rounded number: of the element (if it is an
  /// integer), of both constants and of the product, which are up to `widest` bins; and of the sum,
  /// which is up to `count`. The result is larger by 3 * 2^-24 * `count`, which covers the
  /// roundings in double precision: of the edges and of the guess in EvenBins.
  static double error_of(const EvenBins& bins) {
    const double count = bins.last + 1;
    const double widest = std::max(std::abs(bins.lower), std::abs(bins.upper)) * bins.scale;
    return 0x1p-22 * (widest + count);
  }
};

template <class T>
[[gnu::always_inline]] inline void find_bins(GuessedBins& bins, const T* __restrict values,
                                             std::uint32_t* __restrict numbers) {
  constexpr std::size_t group_elements = 128;  // computed again together
  constexpr std::uint32_t wait_blocks = 15;    // blocks until the next guess
  const GuessedBins local = bins;
  if (bins.exact_blocks > 0) {
    --bins.exact_blocks;
    return find_bins(static_cast<const EvenBins&>(local), values, numbers);
  }
  bool all_in_vain = true;
  const float below = static_cast<float>(local.below()) + 0.5f;
  const float above = static_cast<float>(local.above()) + 0.5f;
  const float nan = static_cast<float>(local.nan()) + 0.5f;
  const float lowest = -local.error;
  const float highest = static_cast<float>(local.last + 1) + local.error;
  const float sure = 0.5f - 2 * local.error;  // two errors, because the sum above is rounded too
  for (std::size_t group = 0; group < block_elements; group += group_elements) {
    std::int32_t all_sure = -1;  // stays negative while all guesses are safe
    for (std::size_t i = group; i < group + group_elements; ++i) {
      const float value = static_cast<float>(values[i]);
      const float bin = value * local.float_scale + local.float_offset;
      const float not_above = bin > highest ? above : bin;
      const float not_below = bin < lowest ? below : not_above;
      const float number = value == value ? not_below : nan;
      const auto found = static_cast<std::int32_t>(number);
      const float from_middle = std::abs(number - static_cast<float>(found) - 0.5f);
      all_sure &= std::bit_cast<std::int32_t>(from_middle - sure);
      numbers[i] = static_cast<std::uint32_t>(found);
    }
    if (all_sure < 0) {
      all_in_vain = false;
      continue;
    }
    for (std::size_t i = group; i < group + group_elements; ++i) {
      numbers[i] = local.bin_of(to_double(values[i]));
    }
  }
  if (all_in_vain) bins.exact_blocks = wait_blocks;
}

/// Advances the searches of all values of a block in step, so that no search waits for the result
/// of its own last step.
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

/// Few ranges of keys are compared with all elements, since that needs no table: in 16 ranges of
/// f4, a core looks at 3.0 GB/s instead of 1.0. More ranges are searched as above.
template <class T>
[[gnu::always_inline]] inline void find_bins(const KeyBins<T>& bins, const T* __restrict values,
                                             std::uint32_t* __restrict numbers) {
  using Key = KeyOf<T>;
  using Index = std::make_signed_t<Key>;  // as wide as the keys, for one vector of each
  constexpr std::int32_t few = 64;
  const KeyBins<T> local = bins;
  alignas(64) Index found[block_elements];
  if (local.ranges <= few) {
    alignas(64) Key heads[block_elements];
    for (std::size_t i = 0; i < block_elements; ++i) {
      heads[i] = local.head_of(key_of(values[i]));
      found[i] = -1;
    }
    for (std::int32_t range = 0; range < local.ranges; ++range) {
      const Key head = local.head_of(local.firsts[range]);
      for (std::size_t i = 0; i < block_elements; ++i) {
        found[i] = heads[i] == head ? Index{range} : found[i];
      }
    }
  } else {
    std::fill(std::begin(found), std::end(found), Index{0});
    for (std::int32_t left = local.ranges; left > 1; left -= left / 2) {
      const std::int32_t distance = left / 2;
      for (std::size_t i = 0; i < block_elements; ++i) {
        found[i] = local.nearer(static_cast<std::int32_t>(found[i]), distance, key_of(values[i]));
      }
    }
    for (std::size_t i = 0; i < block_elements; ++i) {
      found[i] = local.found_or_none(static_cast<std::int32_t>(found[i]), key_of(values[i]));
    }
  }
  for (std::size_t i = 0; i < block_elements; ++i) {
    numbers[i] = local.number_of(static_cast<std::int32_t>(found[i]), key_of(values[i]),
                                 is_a_nan(values[i]));
  }
}

[[gnu::always_inline]] inline void find_bins(const NumberedBins& /*bins*/,
                                             const std::uint32_t* __restrict values,
                                             std::uint32_t* __restrict numbers) {
  std::copy_n(values, block_elements, numbers);
}

template <class T, class Bins>
void find_bins_sse2(Bins& bins, const T* values, std::uint32_t* numbers) {
  find_bins(bins, values, numbers);
}

template <class T, class Bins>
[[gnu::target("avx2,f16c")]] void find_bins_avx2(Bins& bins, const T* values,
                                                 std::uint32_t* numbers) {
  find_bins(bins, values, numbers);
}

template <class T, class Bins>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] void
find_bins_avx512(Bins& bins, const T* values, std::uint32_t* numbers) {
  find_bins(bins, values, numbers);
}

/// Finds the bins of elements, a block at a time.
template <class T, class Found>
class BlockFinder {
 public:
  BlockFinder(const Found& bins, Simd simd)
      : bins_(bins),
        find_(for_level(simd, find_bins_sse2<T, Found>, find_bins_avx2<T, Found>,
                        find_bins_avx512<T, Found>)) {}

  /// Calls take(numbers, count) with the numbers of the counters of each block, which it may
  /// change.
  template <class Take>
  void find(DeviceSpan<const std::byte> data, Take take) {
    const std::size_t count = data.size / sizeof(T);
    const T* const values = elements<T>(data);
    // Aligned, so that no store crosses a cache line.
    alignas(64) std::array<std::uint32_t, block_elements> numbers;
    const std::size_t whole = count - count % block_elements;
    for (std::size_t i = 0; i < whole; i += block_elements) {
      find_(bins_, values + i, numbers.data());
      take(numbers, block_elements);
    }
    if (whole == count) return;
    std::array<T, block_elements> rest{};
    std::copy(values + whole, values + count, rest.begin());
    find_(bins_, rest.data(), numbers.data());
    take(numbers, count - whole);
  }

  const Found& bins() const { return bins_; }

 private:
  Found bins_;
  void (*find_)(Found&, const T*, std::uint32_t*);
};

template <class T, class Found>
class CpuBinFinder final : public BinFinder {
 public:
  CpuBinFinder(const Found& bins, Simd simd) : finder_(bins, simd) {}

  void find(Stream& /*stream*/, DeviceSpan<const std::byte> data, std::uint32_t* numbers) override {
    finder_.find(data, [&numbers](const auto& found, std::size_t count) {
      numbers = std::copy_n(found.begin(), count, numbers);
    });
  }

 private:
  BlockFinder<T, Found> finder_;
};

template <class Found>
std::size_t counters_of(const Found& bins) {
  return static_cast<std::size_t>(bins.nan()) + 1;
}

/// Returns the number of tables for so many counters. The first bits of many keys are the same, so
/// they have more tables than as many bins of values have.
template <class T, class Found>
std::size_t tables_for(std::size_t counters) {
  constexpr std::size_t most = (std::size_t{1} << 16) + outside_counters;
  const bool are_keys = std::is_same_v<Found, KeyBins<T>>;
  return are_keys && counters <= most ? Tables::most_tables : Tables::tables_for(counters);
}

/// Counter for elements of four or eight bytes: finds the bins of a block, then counts them.
template <class T, class Found>
class NumberCounter final : public BinCounter {
 public:
  NumberCounter(const Found& bins, Simd simd)
      : finder_(bins, simd), tables_(counters_of(bins), tables_for<T, Found>(counters_of(bins))) {}

  void count(Stream& /*stream*/, DeviceSpan<const std::byte> data) override {
    finder_.find(data, [&](auto& numbers, std::size_t count) { add(numbers, count); });
  }

  void add_to(std::span<std::uint64_t> counts) override {
    tables_.empty([&](std::size_t number, std::uint64_t count) { counts[number] += count; });
    counts[static_cast<std::size_t>(finder_.bins().below())] += left_out_;
  }

 private:
  /// Counts `count` numbers. Most keys are outside of the ranges of a later pass: they do not go
  /// through their common counter, since each increment would wait for the one before.
  void add(std::array<std::uint32_t, block_elements>& numbers, std::size_t count) {
    std::size_t kept = count;
    if constexpr (std::is_same_v<Found, KeyBins<T>>) {
      if (finder_.bins().take_all()) return tables_.add(numbers.data(), count);
      kept = 0;
      const auto below = static_cast<std::uint32_t>(finder_.bins().below());
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t number = numbers[i];
        numbers[kept] = number;
        kept += number != below ? 1 : 0;
      }
      left_out_ += count - kept;
    }
    tables_.add(numbers.data(), kept);
  }

  BlockFinder<T, Found> finder_;
  Tables tables_;
  std::uint64_t left_out_ = 0;  // elements that count as below, beside those in the tables
};

template <class T, class Found>
std::unique_ptr<BinCounter> make_counter(const Found& bins, Simd simd) {
  if constexpr (sizeof(T) <= 2) {
    return std::make_unique<PatternCounter<T, Found>>(bins, simd);
  } else {
    return std::make_unique<NumberCounter<T, Found>>(bins, simd);
  }
}

/// Memory of the counters of a lane (bytes), in so many tables.
std::size_t lane_bytes(ElementType type, std::size_t counters, std::size_t tables) {
  constexpr std::size_t patterns = std::size_t{1} << 16;
  if (size_of(type) == 1) return BytePairs::table_bytes;
  if (size_of(type) == 2) return Tables::bytes_of(patterns, Tables::tables_for(patterns));
  return Tables::bytes_of(counters, tables);
}

}  // namespace

HostBytes counting_bytes(ElementType type, std::size_t bins) {
  const std::size_t counters = bins + outside_counters;
  return {.fixed = 2 * (bins + 1) * sizeof(double) + counters * sizeof(std::uint64_t),
          .per_lane = lane_bytes(type, counters, Tables::tables_for(counters))};
}

HostBytes key_counting_bytes(ElementType type, std::size_t bins) {
  const std::size_t counters = bins + outside_counters;
  const std::size_t tables = tables_for<float, KeyBins<float>>(counters);
  return {.fixed = counters * sizeof(std::uint64_t),
          .per_lane = lane_bytes(type, counters, tables)};
}

namespace {

/// Calls `make` with a value of the element type and with the bins, in the form that is found
/// soonest.
template <class Make>
auto with_found(ElementType type, const Bins& bins, const Make& make) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T> of_type) {
    return visit(bins, [&]<class Found>(const Found& found) {
      if constexpr (sizeof(T) == 4 && std::is_same_v<Found, EvenBins>) {
        if (GuessedBins::suit(found)) return make(of_type, GuessedBins(found));
      }
      return make(of_type, found);
    });
  });
}

}  // namespace

std::unique_ptr<BinCounter> make_cpu_counter(ElementType type, const Bins& bins, Simd simd) {
  return with_found(type, bins, [&]<class T>(std::type_identity<T>, const auto& found) {
    return make_counter<T>(found, simd);
  });
}

std::unique_ptr<BinCounter> make_cpu_counter(const NumberedBins& bins, Simd simd) {
  return make_counter<std::uint32_t>(bins, simd);
}

std::unique_ptr<BinFinder> make_cpu_bin_finder(ElementType type, const Bins& bins, Simd simd) {
  return with_found(type, bins,
                    [&]<class T, class Found>(std::type_identity<T>,
                                              const Found& found) -> std::unique_ptr<BinFinder> {
                      return std::make_unique<CpuBinFinder<T, Found>>(found, simd);
                    });
}

std::unique_ptr<BinCounter> make_cpu_counter(ElementType type, const KeyRanges& ranges, Simd simd) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) {
    return make_counter<T>(KeyBins<T>(ranges), simd);
  });
}

}  // namespace ooc::detail::binning
