#include <ooc/reduce.hpp>

#include "verify/comparison.hpp"
#include "verify/plain_check.hpp"

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Check of reduce_rows(): rows are read piece by piece, and their findings compared as those of all
// elements are for reduce().

namespace ooc {

using namespace detail;
namespace {

using plain::Addition;
using plain::Comparison;
using plain::Findings;
using plain::number;

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
  plain::require_same(found, "the number of elements", number(found.elements()),
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
