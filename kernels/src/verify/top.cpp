#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/top.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "verify/plain_check.hpp"

// Check of top(). The elements found are the best ones if they are elements of the data, in order,
// and if as many elements of the data are not behind the last one. So one pass over the data proves
// them.

namespace ooc {

using namespace detail;

namespace {

using plain::require_same;

/// An element of the data: its value, and its index.
template <class Value>
struct Placed {
  Value value{};
  std::uint64_t index = 0;
};

/// The order of a result: by value, with -0 before +0, and then by index.
template <class Value>
bool is_ahead(const Placed<Value>& one, const Placed<Value>& other, bool smallest) {
  if (one.value != other.value) return (one.value < other.value) == smallest;
  if constexpr (std::is_floating_point_v<Value>) {
    const bool one_is_low = std::signbit(one.value), other_is_low = std::signbit(other.value);
    if (one_is_low != other_is_low) return one_is_low == smallest;
  }
  return one.index < other.index;
}

template <class Value>
Value plain_value(const Scalar& scalar) {
  if constexpr (std::is_floating_point_v<Value>)
    return std::get<double>(scalar);
  else
    return static_cast<Value>(std::get<int128>(scalar));
}

template <class Value>
Scalar as_scalar(Value value) {
  if constexpr (std::is_floating_point_v<Value>)
    return value;
  else
    return int128{value};
}

/// The findings of a look at some of the data.
template <class Value>
struct BestSeen {
  const Source* source;
  bool smallest;
  const std::vector<Placed<Value>>* found;  // by index
  Placed<Value> last;                       // the last one of the result
  std::uint64_t count = 0, nan = 0;
  std::uint64_t not_behind = 0;  // elements that are not behind the last one

  std::size_t bytes() const { return sizeof(*this); }

  template <class T>
  void take(std::span<const T> elements, std::uint64_t first) {
    count += elements.size();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Placed<Value> element{plain::value_of(elements[i]), first + i};
      if (element.value != element.value)
        ++nan;
      else if (!found->empty() && !is_ahead(last, element, smallest))
        ++not_behind;
    }
    const auto is_before = [](const Placed<Value>& each, std::uint64_t index) {
      return each.index < index;
    };
    auto next = std::lower_bound(found->begin(), found->end(), first, is_before);
    for (; next != found->end() && next->index < first + elements.size(); ++next) {
      require_same(*source, "the value at index " + std::to_string(next->index),
                   as_scalar(next->value),
                   as_scalar(plain::value_of(elements[next->index - first])));
    }
  }

  void merge(const BestSeen& other) {
    count += other.count;
    nan += other.nan;
    not_behind += other.not_behind;
  }
};

/// Returns the values of a result. Throws Error(verify) unless each is ahead of the next one.
template <class Value>
std::vector<Placed<Value>> in_order(const Source& source, const Top& found, bool smallest) {
  std::vector<Placed<Value>> values;
  for (const TopValue& each : found.values) {
    const Placed<Value> value{plain_value<Value>(each.value), each.index};
    const std::size_t rank = values.size() + 1;
    if (!values.empty() && !is_ahead(values.back(), value, smallest)) {
      throw plain::difference(source, "the value of rank " + std::to_string(rank), each.value,
                              as_scalar(values.back().value),
                              "values are in order, and equal ones in that of their indices");
    }
    values.push_back(value);
  }
  return values;
}

template <class T>
void verify_values(Coordinator& coordinator, const Source& source, const TopOptions& options,
                   const Top& found, const PassOptions& wanted) {
  using Value = decltype(plain::value_of(T{}));
  std::vector<Placed<Value>> values = in_order<Value>(source, found, options.smallest);
  const Placed<Value> last = values.empty() ? Placed<Value>{} : values.back();
  std::ranges::sort(values, {}, &Placed<Value>::index);
  const auto seen =
      plain::look_at_all<T>(coordinator.options(), wanted, source,
                            BestSeen<Value>{&source, options.smallest, &values, last});
  require_same(source, "count", int128{found.count}, int128{seen.count});
  require_same(source, "nan", int128{found.nan}, int128{seen.nan});
  const std::uint64_t expected = std::min(options.k, seen.count - seen.nan);
  require_same(source, "the number of values", int128{found.values.size()}, int128{expected});
  require_same(source, "the number of elements up to the last value", int128{expected},
               int128{seen.not_behind});
  if (!values.empty() && values.back().index >= seen.count) {
    throw plain::difference(source, "the largest index", int128{values.back().index},
                            int128{seen.count - 1}, "no element is behind the data");
  }
}

}  // namespace

void verify_top(Coordinator& coordinator, const Source& source, const TopOptions& options,
                const Top& found, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    verify_values<T>(coordinator, source, options, found, wanted);
  });
}

}  // namespace ooc
