#pragma once

#include <ooc/fold.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <utility>

namespace ooc::detail {

/// Compares results of sums that may round: floating-point numbers may differ by a thousandth of
/// the largest one, other values must be equal.
struct IsClose {
  static constexpr double tolerance = 1e-3;

  template <class T>
  bool operator()(const T& left, const T& right) const {
    if constexpr (std::floating_point<T>) {
      return are_close(left, right, std::max(std::abs(left), std::abs(right)));
    } else if constexpr (std::ranges::input_range<const T>) {
      return are_ranges_close(left, right);
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
      return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return ((*this)(std::get<i>(left), std::get<i>(right)) && ...);
      }
      (std::make_index_sequence<std::tuple_size_v<T>>{});
    } else {
      static_assert(
          requires { static_cast<bool>(left == right); },
          "check() compares results by ==: give the result one, or give check() a "
          "function `bool same(const Result& left, const Result& right)`");
      return static_cast<bool>(left == right);
    }
  }

  /// Compares sums after DeviceSums::finish().
  template <class T>
  bool operator()(const DeviceSums<T>& left, const DeviceSums<T>& right) const {
    return are_ranges_close(left.values(), right.values());
  }

 private:
  template <class T>
  static bool are_close(T left, T right, T largest) {
    if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right);
    if (std::isinf(left) || std::isinf(right)) return left == right;
    return std::abs(left - right) <= static_cast<T>(tolerance) * largest;
  }

  template <class Range>
  bool are_ranges_close(const Range& left, const Range& right) const {
    using T = std::ranges::range_value_t<const Range>;
    if constexpr (std::floating_point<T>) {
      T largest = 0;
      for (const T value : left) {
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
      }
      return std::ranges::equal(left, right,
                                [&](T one, T other) { return are_close(one, other, largest); });
    } else {
      return std::ranges::equal(left, right, *this);
    }
  }
};

}  // namespace ooc::detail
