#include "verify/moments.hpp"
#include "verify/plain_check.hpp"
#include "verify/plain_sum.hpp"

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

using namespace detail;
namespace {

using plain::Addition;
using plain::Expected;
using plain::Findings;
using plain::may_overflow;
using plain::Moments;
using plain::PlainSum;
using plain::require_same;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Scalar number(double value) {
  return value;
}
template <std::integral T>
Scalar number(T value) {
  return int128{value};
}

/// Maps indices of elements to indices in row-major order, as in NumPy.
class RowMajor {
 public:
  explicit RowMajor(const Source& source) : arrays_(source.column_major()) {}

  /// `index`: the element's index in the order of the file.
  std::uint64_t index_of(std::uint64_t index) const {
    for (const ColumnMajorArray& array : arrays_) {
      if (index < array.first) return index;
      std::uint64_t rest = index - array.first, place = 0, count = 1;
      for (const std::uint64_t length : array.shape) {
        place = place * length + rest % length;
        rest /= length;
        count *= length;
      }
      if (index - array.first < count) return array.first + place;
    }
    return index;
  }

 private:
  std::vector<ColumnMajorArray> arrays_;
};

/// The findings of one thread about all elements.
template <class Value>
struct alignas(128) WholeLook {
  Findings<Value> all{};
  const RowMajor* places = nullptr;

  std::size_t bytes() const { return sizeof(*this); }

  template <class T>
  void take(std::span<const T> elements, std::uint64_t first) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      all.add(elements[i], places->index_of(first + i));
    }
    all.end_block();
  }

  void merge(const WholeLook& other) { all.merge(other.all); }
};

/// The findings of one thread about each column.
template <class Value>
struct alignas(128) ColumnsLook {
  std::vector<Findings<Value>> columns;

  std::size_t bytes() const { return columns.size() * sizeof(columns.front()); }

  template <class T>
  void take(std::span<const T> elements, std::uint64_t first) {
    std::uint64_t row = first / columns.size();
    std::size_t column = first % columns.size();
    for (const T& element : elements) {
      columns[column].add(element, row);
      if (++column < columns.size()) continue;
      column = 0;
      ++row;
    }
    for (Findings<Value>& each : columns) each.end_block();
  }

  void merge(const ColumnsLook& other) {
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].merge(other.columns[c]);
  }
};

/// Compares statistics with the findings of the check. Throws Error(verify).
template <class Value>
class Comparison {
 public:
  /// `prefix`: of the names of results in messages.
  Comparison(const Source& source, const ReduceOptions& options, const Findings<Value>& seen,
             const Addition& addition, const Statistics& found, std::string prefix = {})
      : source_(source),
        options_(options),
        seen_(seen),
        addition_(addition),
        found_(found),
        prefix_(std::move(prefix)) {}

  void run() const {
    same("count", whole(found_.count), whole(seen_.count));
    same("nan", whole(found_.nan), whole(seen_.nan));
    same("inf", whole(found_.inf), whole(seen_.infinite + seen_.negative_infinite));
    if (seen_.count == 0) return expect(Findings<Value>::zero(), {}, {}, {}, {});
    if (seen_.nan != 0 && options_.nan == NanPolicy::propagate) {
      return expect(nan, nan, whole(seen_.first_nan), nan, whole(seen_.first_nan));
    }
    if (seen_.count == seen_.nan) return expect(0.0, nan, {}, nan, {});
    check_extremes();
    if (seen_.infinite + seen_.negative_infinite != 0) {
      check_infinite();
    } else {
      check_moments();
    }
  }

 private:
  static Scalar whole(std::uint64_t count) { return int128{count}; }
  template <class T>
  static Scalar maybe(const std::optional<T>& value) {
    return value ? number(*value) : Scalar{};
  }

  void same(const std::string& name, const Scalar& found, const Scalar& checked) const {
    require_same(source_, prefix_ + name, found, checked);
  }

  /// Checks results whose moments are all NaN or all empty. The sum may be a number.
  void expect(const Scalar& sum, const Scalar& min, const Scalar& argmin, const Scalar& max,
              const Scalar& argmax) const {
    same("sum", found_.sum, sum);
    same("min", found_.min, min);
    same("argmin", maybe(found_.argmin), argmin);
    same("max", found_.max, max);
    same("argmax", maybe(found_.argmax), argmax);
    const Scalar moment = min;  // NaN, or empty
    same("mean", maybe(found_.mean), moment);
    same("variance", maybe(found_.variance), moment);
    same("stddev", maybe(found_.stddev), moment);
  }

  void check_extremes() const {
    same("min", found_.min, number(seen_.min.value));
    same("argmin", maybe(found_.argmin), whole(seen_.min.index));
    same("max", found_.max, number(seen_.max.value));
    same("argmax", maybe(found_.argmax), whole(seen_.max.index));
  }

  void check_infinite() const {
    // The sum of the finite values may also overflow to an infinity of either sign. The result is
    // then an infinity or NaN, depending on the order; it is only required not to be finite.
    const bool overflows = !options_.exact && may_overflow(seen_.magnitude);
    const double sum =
        (seen_.infinite != 0 ? infinity : 0) - (seen_.negative_infinite != 0 ? infinity : 0);
    if (!overflows || is_finite(found_.sum)) same("sum", found_.sum, sum);
    if (!overflows || is_finite(maybe(found_.mean))) same("mean", maybe(found_.mean), sum);
    same("variance", maybe(found_.variance), nan);
    same("stddev", maybe(found_.stddev), nan);
  }

  void check_moments() const {
    const Moments moments = moments_of(seen_, addition_);
    if (options_.exact) {
      check_exact();
    } else {
      if constexpr (Findings<Value>::of_floats) near("sum", found_.sum, moments.sum);
      near("mean", maybe(found_.mean), moments.mean);
    }
    if constexpr (!Findings<Value>::of_floats) same("sum", found_.sum, seen_.sum);
    near("variance", maybe(found_.variance), moments.variance);
    same("stddev", maybe(found_.stddev), std::sqrt(found_.variance.value_or(nan)));
  }

  void check_exact() const {
    PlainSum sum;
    if constexpr (Findings<Value>::of_floats) {
      sum = seen_.sum;
      same("sum", found_.sum, sum.rounded());
    } else {
      sum.add_integer(seen_.sum);
    }
    same("mean", maybe(found_.mean), sum.rounded(seen_.count - seen_.nan));
  }

  static bool is_finite(const Scalar& found) {
    const auto* const real = std::get_if<double>(&found);
    return real == nullptr || std::isfinite(*real);
  }

  void near(const std::string& name, const Scalar& found, const Expected& expected) const {
    if (expected.overflow_allowed && !is_finite(found)) return;
    const auto* const real = std::get_if<double>(&found);
    if (real != nullptr && std::abs(*real - expected.value) <= expected.bound) return;
    throw plain::difference(
        source_, prefix_ + name, found, static_cast<double>(expected.value),
        "rounding explains " + to_string(Scalar{static_cast<double>(expected.bound)}) + " at most");
  }

  const Source& source_;
  const ReduceOptions& options_;
  const Findings<Value>& seen_;
  const Addition& addition_;
  const Statistics& found_;
  std::string prefix_;
};

/// Returns what is near the mean, so that squared distances from it can be added.
double center_of(const Statistics& found) {
  const double mean = found.mean.value_or(0);
  return std::isfinite(mean) ? mean : 0;
}

/// Returns how a number of results over these elements are added.
Addition addition_of(const Source& source, std::uint64_t tile) {
  return {tile, source.elements() / plain::block_elements + 1};
}

}  // namespace

void verify_reduce(Coordinator& coordinator, const Source& source, const ReduceOptions& options,
                   const Statistics& found, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  const RowMajor places(source);
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    using Value = decltype(plain::value_of(T{}));
    const WholeLook<Value> nothing_seen{{.center = center_of(found)}, &places};
    const auto seen = plain::look_at_all<T>(coordinator.options(), wanted, source, nothing_seen);
    const Addition addition = addition_of(source, tile_elements);
    Comparison<Value>(source, options, seen.all, addition, found).run();
  });
}

void verify_reduce_columns(Coordinator& coordinator, const Source& source,
                           const ReduceOptions& options, std::span<const Statistics> found,
                           const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    using Value = decltype(plain::value_of(T{}));
    const std::size_t row_bytes = row_bytes_of(source, sizeof(T));
    require_same(source, "columns", number(found.size()), number(row_bytes / sizeof(T)));
    ColumnsLook<Value> nothing_seen;
    for (const Statistics& column : found) {
      nothing_seen.columns.push_back({.center = center_of(column)});
    }
    const auto seen = plain::look_at_all<T>(coordinator.options(), wanted, source, nothing_seen);
    const Addition addition = addition_of(source, column_tile_rows(row_bytes));
    for (std::size_t c = 0; c < found.size(); ++c) {
      Comparison<Value>(source, options, seen.columns[c], addition, found[c],
                        "column " + std::to_string(c) + ": ")
          .run();
    }
  });
}

}  // namespace ooc
