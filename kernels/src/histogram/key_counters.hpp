#pragma once

#include "histogram/blocks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ooc::detail::binning {

/// One counter per key. Counters are small, so that more of them fit in the nearest cache; counters
/// that might overflow are carried to a map. If there are few different keys, elements alternate
/// between tables, so that equal keys in a row do not wait for each other's store.
template <class Counter>
class BasicTables {
 public:
  static constexpr std::size_t most_tables = 4;

  /// `tables`: 1, 2 or most_tables.
  BasicTables(std::size_t keys, std::size_t tables)
      : keys_(keys), tables_(tables), counters_(keys * tables_) {}
  explicit BasicTables(std::size_t keys) : BasicTables(keys, tables_for(keys)) {}

  /// Memory for so many keys in so many tables (bytes).
  static std::size_t bytes_of(std::size_t keys, std::size_t tables) {
    return keys * tables * sizeof(Counter);
  }

  /// Returns the number of tables for keys of which none is much more frequent than others.
  static std::size_t tables_for(std::size_t keys) {
    return keys <= 4096 ? most_tables : keys <= 65536 ? 2 : 1;
  }

  /// Counts `count` keys.
  template <class Key>
  void add(const Key* keys, std::size_t count) {
    for (; count > most_at_once; keys += most_at_once, count -= most_at_once) {
      add(keys, most_at_once);
    }
    if (count > most_at_once - added_) carry();
    added_ += count;
    Counter* const first = counters_.data();
    Counter* const second = first + 1 % tables_ * keys_;
    Counter* const third = first + 2 % tables_ * keys_;
    Counter* const fourth = first + 3 % tables_ * keys_;
    const std::size_t whole = count - count % 4;
    for (std::size_t i = 0; i < whole; i += 4) {
      ++first[keys[i]];
      ++second[keys[i + 1]];
      ++third[keys[i + 2]];
      ++fourth[keys[i + 3]];
    }
    for (std::size_t i = whole; i < count; ++i) ++first[keys[i]];
  }

  /// Calls `take(key, count)` for every key that was counted, once or twice, and clears all
  /// counters.
  template <class Take>
  void empty(Take take) {
    for (std::size_t key = 0; key < keys_; ++key) {
      std::uint64_t count = 0;
      for (std::size_t table = 0; table < tables_; ++table) {
        count += std::exchange(counters_[table * keys_ + key], Counter{0});
      }
      if (count != 0) take(key, count);
    }
    for (const auto& [key, count] : std::exchange(carried_, {})) take(key, count);
    added_ = 0;
  }

  // After carry(), each counter has room for this many elements.
  static constexpr std::size_t most_at_once = std::numeric_limits<Counter>::max() / 2;

 private:
  /// Each entry of the map stands for `most_at_once` elements or more, so there are few.
  void carry() {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      if (counters_[i] > most_at_once)
        carried_[i % keys_] += std::exchange(counters_[i], Counter{0});
    }
    added_ = 0;
  }

  std::size_t keys_;
  std::size_t tables_;
  std::vector<Counter> counters_;
  std::size_t added_ = 0;  // elements since the last carry()
  std::unordered_map<std::size_t, std::uint64_t> carried_{};
};

using Tables = BasicTables<std::uint32_t>;

/// Counters for bytes, which are counted in pairs, since incrementing a counter in memory takes as
/// long for two bytes as for one. Counters of pairs have 8 bits and ignore the order of the two
/// bytes, so they fit the first cache. When one overflows, its pairs are added to the totals of
/// their bytes. A Sapphire Rapids core counts most kinds of bytes at 4 to 5.3 GB/s, and two values
/// in random order at 3.4; one by one it is 3.9 at best.
class BytePairs {
 public:
  explicit BytePairs(Simd simd)
      : find_keys_(for_level(simd, find_keys_sse2, find_keys_avx2, find_keys_avx512)),
        counters_(table_bytes) {}

  /// Counts `count` bytes.
  void add(const std::uint8_t* bytes, std::size_t count) {
    alignas(64) std::array<std::uint16_t, block_elements> found;
    std::uint8_t* const first = counters_.data();
    std::uint8_t* second = first;
    const std::size_t whole = count - count % (2 * block_elements);
    for (std::size_t i = 0; i < whole; i += 2 * block_elements) {
      find_keys_(bytes + i, found.data());
      // If there are few different bytes, two tables alternate, so that an increment does not wait
      // for the one before (3.4 instead of 2.2 GB/s for two values). Otherwise one table is used,
      // more of which stays in the first cache (random bytes on 16 cores: 41 instead of 36 GB/s).
      if (i % (32 * block_elements) == 0) second = are_few(found) ? first + keys : first;
      for (std::size_t line = 0; line < 2 * block_elements; line += 64) {  // 2.6 -> 3.2 GB/s
        __builtin_prefetch(bytes + i + 4 * block_elements + line, 0, 2);
      }
      for (std::size_t pair = 0; pair < block_elements; pair += 2) {
        if (++first[found[pair]] == 0) carry(found[pair], 256);
        if (++second[found[pair + 1]] == 0) carry(found[pair + 1], 256);
      }
    }
    for (std::size_t i = whole; i < count; ++i) ++totals_[bytes[i]];
  }

  /// Calls `take(byte, count)` for every byte that was counted, and clears all counters.
  template <class Take>
  void empty(Take take) {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      carry(i % keys, std::exchange(counters_[i], std::uint8_t{0}));
    }
    for (std::size_t byte = 0; byte < totals_.size(); ++byte) {
      if (totals_[byte] != 0) take(byte, std::exchange(totals_[byte], 0));
    }
  }

 private:
  // A key is higher * 256 + lower, or its complement where that is less, which halves the number of
  // keys. Pairs of equal bytes would collide at the fold, so they have keys behind the others:
  // several for each byte, used in rotation, so that data of few values does not wait for its own
  // stores.
  static constexpr std::size_t equal = 0x8000;
  static constexpr std::size_t turns = 8;
  static constexpr std::size_t keys = equal + 256 * turns;

 public:
  static constexpr std::size_t table_bytes = 2 * keys;

 private:
  /// Computes the keys of pairs of a byte and the one `block_elements` later. (Neighbouring bytes
  /// would often be the same byte of different elements, and equal.)
  [[gnu::always_inline]] static void find_keys(const std::uint8_t* __restrict bytes,
                                               std::uint16_t* __restrict found) {
    // A 16-bit index like the keys, so that the loop vectorises.
    for (std::uint16_t i = 0; i < block_elements; ++i) {
      const std::uint8_t left = bytes[i], right = bytes[i + block_elements];
      const std::uint8_t lower = left < right ? left : right;
      const std::uint8_t higher = left < right ? right : left;
      const auto key = static_cast<std::uint16_t>(higher << 8 | lower);
      const auto fold = static_cast<std::uint16_t>(static_cast<std::int16_t>(key) >> 15);
      const auto behind = static_cast<std::uint16_t>(equal + lower * turns + i % turns);
      found[i] = left == right ? behind : static_cast<std::uint16_t>(key ^ fold);
    }
  }

  static void find_keys_sse2(const std::uint8_t* bytes, std::uint16_t* found) {
    find_keys(bytes, found);
  }

  [[gnu::target("avx2,f16c")]] static void find_keys_avx2(const std::uint8_t* bytes,
                                                          std::uint16_t* found) {
    find_keys(bytes, found);
  }

  [[gnu::target(
      "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] static void
  find_keys_avx512(const std::uint8_t* bytes, std::uint16_t* found) {
    find_keys(bytes, found);
  }

  [[gnu::noinline]] void carry(std::size_t key, std::uint64_t count) {
    std::size_t higher = key / 256, lower = key % 256;
    if (key >= equal) {
      higher = lower = (key - equal) / turns;
    } else if (higher < lower) {
      higher = 255 - higher;
      lower = 255 - lower;
    }
    totals_[higher] += count;
    totals_[lower] += count;
  }

  /// True if there are few different keys: if more than two of 256 pairs of keys are equal.
  static bool are_few(const std::array<std::uint16_t, block_elements>& keys_found) {
    constexpr std::size_t half = block_elements / 2;
    std::uint16_t equals = 0;
    for (std::size_t i = 0; i < half; ++i) {
      const bool same = keys_found[i] == keys_found[i + half];
      equals = static_cast<std::uint16_t>(equals + (same ? 1 : 0));
    }
    return equals > 2;
  }

  void (*find_keys_)(const std::uint8_t*, std::uint16_t*);
  std::vector<std::uint8_t> counters_;  // two tables
  std::array<std::uint64_t, 256> totals_{};
};

}  // namespace ooc::detail::binning
