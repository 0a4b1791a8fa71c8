#include "verify/comparison.hpp"
#include "verify/plain_check.hpp"

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
