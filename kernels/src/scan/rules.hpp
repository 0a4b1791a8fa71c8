#pragma once

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>
#include <ooc/running.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

// The definition of running(), which both backends follow to the bit.
//
// A tile of 65,536 elements has rows of 256. The elements of a row are combined one after another,
// and so are the totals of the rows. What comes before a tile is a sum of two doubles, so its error
// does not grow with the number of tiles. Integers and extremes are exact in any order.

namespace ooc::detail::scanning {

inline constexpr std::size_t row_elements = 256;
/// A GPU gets so many tiles at once, which take about as long as it takes to launch the kernels. On
/// the CPU, their results still lie in a core's cache.
inline constexpr std::size_t partition_tiles = 4;
inline constexpr std::size_t partition_elements = partition_tiles * tile_elements;

/// Carry of the scan, for all types: the bits of values.
struct Carry {
  std::uint64_t tiles = 0;                     // so far, or of a partition alone
  std::uint64_t high = 0, low = 0;             // the result of those so far
  std::uint64_t totals[partition_tiles] = {};  // of the tiles of a partition alone
};

/// Results that are exact: what comes before a tile is one value.
template <class V>
struct ExactTotal {
  V high;
};

/// A sum of two doubles. `high` is the sum of both, rounded.
struct DoubleTotal {
  double high, low;
};

/// Returns a total, of which `low` has been lost by rounding. That has no meaning beside an
/// infinity or NaN.
constexpr DoubleTotal with_lost(double high, double low) {
  return {high, low - low == 0 ? low : 0};
}

/// The two-sum of D. E. Knuth: high + low == left + right.
constexpr DoubleTotal two_sum(double left, double right) {
  const double sum = left + right;
  const double of_right = sum - left;
  return with_lost(sum, (left - (sum - of_right)) + (right - of_right));
}

/// The running sum of elements T. It begins at +0, so no result is -0.
template <class T>
struct SumRule {
  using Element = T;
  using Value =
      std::conditional_t<is_floating<T>, double,
                         std::conditional_t<std::is_same_v<T, std::uint64_t>, T, std::int64_t>>;
  using Total = std::conditional_t<is_floating<T>, DoubleTotal, ExactTotal<Value>>;

  static constexpr Value nothing() { return 0; }
  static constexpr Value value_of(T element) {
    if constexpr (is_floating<T>) {
      return to_double(element);
    } else {
      return static_cast<Value>(element);
    }
  }
  static constexpr Value combine(Value left, Value right) {
    if constexpr (is_floating<T>) {
      return left + right;
    } else {  // wraps
      return static_cast<Value>(static_cast<std::uint64_t>(left) +
                                static_cast<std::uint64_t>(right));
    }
  }
  static constexpr Total add(Total total, Value value) {
    if constexpr (is_floating<T>) {
      const DoubleTotal sum = two_sum(total.high, value);
      const double low = sum.low + total.low;
      return two_sum(sum.high, low);
    } else {
      return {combine(total.high, value)};
    }
  }
  /// Returns what is written. NaN have the same bits everywhere.
  static constexpr Value result_of(Total total) {
    if constexpr (is_floating<T>) {
      constexpr auto nan = std::bit_cast<double>(0x7ff8'0000'0000'0000);
      return total.high == total.high ? total.high : nan;
    } else {
      return total.high;
    }
  }
};

/// The minimum of the elements so far, or the maximum: the first of the best ones, with its bits,
/// where -0 equals +0, or the first NaN.
template <class T, bool largest>
struct ExtremeRule {
  using Element = T;
  using Value = T;
  using Total = ExactTotal<T>;

  /// Returns a value that no element is worse than.
  static constexpr T nothing() {
    if constexpr (std::is_same_v<T, Float16>) {
      return {largest ? std::uint16_t{0xfc00} : std::uint16_t{0x7c00}};
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      return {largest ? std::uint16_t{0xff80} : std::uint16_t{0x7f80}};
    } else if constexpr (is_floating<T>) {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      return largest ? -infinity : infinity;
    } else {
      return largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    }
  }
  static constexpr T value_of(T element) { return element; }
  static constexpr T combine(T left, T right) {
    const bool is_better = largest ? key(right) > key(left) : key(right) < key(left);
    return (is_better || is_nan(right)) && !is_nan(left) ? right : left;
  }
  static constexpr Total add(Total total, T value) { return {combine(total.high, value)}; }
  static constexpr T result_of(Total total) { return total.high; }

 private:
  /// Returns a number that is ordered as the values are.
  static constexpr auto key(T value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else {
      const int magnitude = value.bits & 0x7fff;
      return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
    }
  }
  static constexpr bool is_nan(T value) {
    if constexpr (std::is_integral_v<T>) {
      return false;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return value != value;
    } else {
      return (value.bits & 0x7fff) > (ExtremeRule<T, false>::nothing().bits);
    }
  }
};

template <class V>
constexpr std::uint64_t bits_of(V value) {
  if constexpr (std::is_integral_v<V>) {
    return static_cast<std::uint64_t>(value);
  } else if constexpr (sizeof(V) == 2) {
    return value.bits;
  } else if constexpr (sizeof(V) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint64_t>(value);
  }
}

template <class V>
constexpr V from_bits(std::uint64_t bits) {
  if constexpr (std::is_integral_v<V>) {
    return static_cast<V>(bits);
  } else if constexpr (sizeof(V) == 2) {
    return V{static_cast<std::uint16_t>(bits)};
  } else if constexpr (sizeof(V) == 4) {
    return std::bit_cast<V>(static_cast<std::uint32_t>(bits));
  } else {
    return std::bit_cast<V>(bits);
  }
}

/// Returns what comes before a partition.
template <class Rule>
constexpr typename Rule::Total total_in(const Carry& carry) {
  using Value = typename Rule::Value;
  typename Rule::Total total{};
  total.high = carry.tiles != 0 ? from_bits<Value>(carry.high) : Rule::nothing();
  if constexpr (std::is_same_v<typename Rule::Total, DoubleTotal>) {
    total.low = from_bits<double>(carry.low);
  }
  return total;
}

/// Returns the carry after a partition, given that before it and that of the partition alone.
template <class Rule>
constexpr Carry joined(const Carry& before, const Carry& own) {
  typename Rule::Total total = total_in<Rule>(before);
  for (std::size_t i = 0; i < own.tiles; ++i) {
    total = Rule::add(total, from_bits<typename Rule::Value>(own.totals[i]));
  }
  Carry after{.tiles = before.tiles + own.tiles, .high = bits_of(total.high)};
  if constexpr (std::is_same_v<typename Rule::Total, DoubleTotal>) after.low = bits_of(total.low);
  return after;
}

/// Where the results of a tile keep its total until they are finished: in the last one or, if they
/// are exclusive, in the first one, which is the result of no element of the tile.
constexpr std::size_t place_of_total(bool exclusive, std::size_t count) {
  return exclusive ? 0 : count - 1;
}

/// A partition, in the memory of the device. Its first element begins a tile.
struct Partition {
  const std::byte* in;
  std::byte* out;
  std::size_t count;  // at least one, and at most partition_elements
};

/// The type of the elements, and the results wanted.
struct Question {
  ElementType type;
  RunningOptions options;
};

/// Calls `call(Rule{}, exclusive)` with the rule of a question.
template <class Call>
void with_rule(const Question& question, Call&& call) {
  visit(question.type, [&]<class T>(std::type_identity<T>) {
    const auto with = [&]<class Rule>(Rule rule) {
      if constexpr (std::is_same_v<Rule, SumRule<T>>) {
        if (question.options.exclusive) return call(rule, std::true_type{});
      }
      call(rule, std::false_type{});
    };
    switch (question.options.value) {
      case RunningValue::sum: return with(SumRule<T>{});
      case RunningValue::minimum: return with(ExtremeRule<T, false>{});
      case RunningValue::maximum: return with(ExtremeRule<T, true>{});
    }
  });
}

// The functions of the scan for each device. The first one writes the results of each tile alone,
// the last one adds what is before.

void begin_cpu(const Question& question, const Partition& partition, Carry& own);
void join_cpu(const Question& question, const Carry& before, const Carry& own, Carry& after);
void finish_cpu(const Question& question, const Partition& partition, const Carry& before);

/// Enqueue the same for device memory.
void begin_cuda(Stream& stream, const Question& question, const Partition& partition, Carry* own);
void join_cuda(Stream& stream, const Question& question, const Carry* before, const Carry* own,
               Carry* after);
void finish_cuda(Stream& stream, const Question& question, const Partition& partition,
                 const Carry* before);

}  // namespace ooc::detail::scanning
