#include "verify/comparison.hpp"
#include "verify/plain_check.hpp"

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

using namespace detail;
namespace {

using plain::Addition;
using plain::Comparison;
using plain::Findings;
using plain::number;
using plain::require_same;

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

/// Returns what is near the mean, so that squared distances from it can be added.
double center_of(const Statistics& found) {
  const double mean = found.mean.value_or(0);
  return std::isfinite(mean) ? mean : 0;
}

/// Returns how a number of results over these elements are added.
Addition addition_of(const Source& source, std::uint64_t tile) {
  return {tile, source.elements() / plain::block_elements + 1};
}

constexpr std::array<std::string_view, 8> row_value_names{"sum",    "mean",   "min",      "max",
                                                          "argmin", "argmax", "variance", "stddev"};

/// Returns statistics with one value only.
template <class V>
Statistics with_value(RowValue value, V stored) {
  Statistics found;
  const auto number_of = [](auto element) { return number(plain::value_of(element)); };
  if constexpr (std::is_same_v<V, double>) {
    if (value == RowValue::mean) found.mean = stored;
    if (value == RowValue::variance) found.variance = stored;
    if (value == RowValue::stddev) found.stddev = stored;
  }
  if constexpr (std::is_same_v<V, std::int64_t>) {
    const auto index = static_cast<std::uint64_t>(stored);
    if (value == RowValue::argmin && stored >= 0) found.argmin = index;
    if (value == RowValue::argmax && stored >= 0) found.argmax = index;
  }
  if (value == RowValue::sum) found.sum = number_of(stored);
  if (value == RowValue::minimum) found.min = number_of(stored);
  if (value == RowValue::maximum) found.max = number_of(stored);
  return found;
}

/// Compares the results of rows, which it gets piece by piece.
template <class T, class V>
class RowsCheck {
 public:
  RowsCheck(const Source& source, const Source& found, std::uint64_t columns,
            const ReduceRowsOptions& options)
      : source_(source), found_(found), columns_(columns), options_(options) {}

  void take(std::span<const T> elements) {
    for (const T& element : elements) {
      if (seen_.count == 0 && std::is_same_v<Value, double>) seen_.center = center(element);
      seen_.add(element, seen_.count);
      if (seen_.count % plain::block_elements == 0) seen_.end_block();
      if (seen_.count == columns_) end_row();
    }
  }

 private:
  using Value = decltype(plain::value_of(T{}));

  /// A number that is near the mean, if the elements of a row are near each other.
  static double center(T element) {
    const auto value = static_cast<double>(plain::value_of(element));
    return std::isfinite(value) ? value : 0;
  }

  void end_row() {
    seen_.end_block();
    if constexpr (!Findings<Value>::of_floats && std::is_integral_v<V>) {
      if (options_.value == RowValue::sum) seen_.sum = static_cast<V>(seen_.sum);
    }
    const std::string prefix = "row " + std::to_string(row_) + ": ";
    const Addition addition{tile_elements, columns_ / plain::block_elements + 1};
    Statistics found = with_value(options_.value, next());
    found.count = seen_.count;
    Comparison<Value>(source_, {.nan = options_.nan, .exact = false}, seen_, addition, found,
                      prefix, row_value_names[static_cast<std::size_t>(options_.value)])
        .run();
    seen_ = {};
    ++row_;
  }

  /// Returns the result of the next row.
  V next() {
    const std::size_t i = row_ % plain::block_elements;
    if (i == 0) {
      const std::uint64_t rest = found_.elements() - row_;
      results_.resize(std::min<std::uint64_t>(rest, plain::block_elements));
      const auto bytes = std::as_writable_bytes(std::span(results_));
      plain::read_elements(found_, row_, sizeof(V), bytes);
      plain::decode(found_.type().value_or(DType{}), bytes);
    }
    return results_[i];
  }

  const Source& source_;
  const Source& found_;
  std::uint64_t columns_;
  const ReduceRowsOptions& options_;
  Findings<Value> seen_{};  // of the row so far
  std::uint64_t row_ = 0;
  std::vector<V> results_;
};

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

void verify_reduce_rows(Coordinator& coordinator, const Source& source, const Source& found,
                        const ReduceRowsOptions& options, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  const ElementType made = row_value_type(source.element(), options.value);
  if (found.element() != made) {
    throw Error(ErrorKind::usage, found.name() + ": holds " +
                                      std::string(name_of(found.element())) +
                                      ", but the results are " + std::string(name_of(made)));
  }
  const std::size_t element = size_of(source.element());
  const std::uint64_t columns = row_bytes_of(source, element) / element;
  require_same(found, "the number of elements", number(found.elements()),
               number(source.elements() / columns));
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    const auto check = [&]<class V>(std::type_identity<V>) {
      RowsCheck<T, V> rows(source, found, columns, options);
      constexpr std::size_t one_thread = 1;
      plain::read_all(wanted, source, one_thread,
                      [&](std::size_t, std::span<const std::byte> elements, std::uint64_t) {
                        const auto* const values = reinterpret_cast<const T*>(elements.data());
                        rows.take(std::span(values, elements.size() / sizeof(T)));
                      });
    };
    if (made == source.element()) {
      check(std::type_identity<T>{});
    } else if (made == ElementType::f8) {
      check(std::type_identity<double>{});
    } else {
      check(std::type_identity<std::int64_t>{});
    }
  });
  found.check_unchanged();
}

}  // namespace ooc
