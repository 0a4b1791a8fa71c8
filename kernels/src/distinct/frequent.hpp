#pragma once

#include <ooc/distinct.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "distinct/table.hpp"

namespace ooc::detail::distincts {

/// A value by its place in the order of values, with its count.
struct FrequentValue {
  std::uint64_t count, key;
};

/// The order of a result: the most frequent first, of equal counts the smaller value.
constexpr bool comes_first(const FrequentValue& one, const FrequentValue& other) {
  return one.count != other.count ? one.count > other.count : one.key < other.key;
}

/// Finds the most frequent of the values that are added, each once.
template <class T>
class FrequentValues {
 public:
  explicit FrequentValues(std::size_t most) : most_(most) {}

  void add(const Entry& entry) {
    const auto bits = static_cast<binning::BitsOf<T>>(entry.bits);
    rank({entry.count, binning::key_of(std::bit_cast<T>(bits))});
  }
  void add_zero(std::uint64_t count) {
    if (count != 0) add(Entry{0, count});
  }
  void add_nan(std::uint64_t count) {
    if (count != 0) rank({count, nan_key});
  }

  /// Returns the sum of all counts.
  std::uint64_t elements() const { return elements_; }

  /// Returns the values, the most frequent first.
  std::vector<DistinctValue> take() {
    std::ranges::sort(values_, comes_first);
    values_.resize(std::min(values_.size(), most_));
    std::vector<DistinctValue> found;
    found.reserve(values_.size());
    for (const auto& [count, key] : values_) found.push_back({value_of(key), count});
    return found;
  }

 private:
  // The last key of a type with NaN is that of one.
  static constexpr std::uint64_t nan_key = std::numeric_limits<std::uint64_t>::max();

  static Scalar value_of(std::uint64_t key) {
    if constexpr (is_floating<T>) {
      if (key == nan_key) return std::numeric_limits<double>::quiet_NaN();
      return to_double(binning::element_of<T>(static_cast<binning::KeyOf<T>>(key)));
    } else {
      return static_cast<int128>(binning::element_of<T>(static_cast<binning::KeyOf<T>>(key)));
    }
  }

  void rank(const FrequentValue& value) {
    elements_ += value.count;
    if (values_.size() >= most_ && !comes_first(value, worst_)) return;
    values_.push_back(value);
    if (values_.size() < 2 * most_) return;
    const auto last = values_.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
    std::nth_element(values_.begin(), last, values_.end(), comes_first);
    values_.resize(most_);
    worst_ = values_.back();
  }

  std::size_t most_;
  std::vector<FrequentValue> values_{};
  FrequentValue worst_{0, nan_key};  // of the best ones, at the last cut; others are before it
  std::uint64_t elements_ = 0;
};

}  // namespace ooc::detail::distincts
