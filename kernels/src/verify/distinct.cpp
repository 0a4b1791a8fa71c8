#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/distinct.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "verify/plain_check.hpp"

// Check of distinct(). It counts all values in maps. If these would be too large, it divides values
// into classes, and reads the data once for each class.

namespace ooc {

using namespace detail;

namespace {

using plain::require_same;

/// The memory of a value in a map, and of its share of the buckets (bytes).
constexpr std::size_t map_bytes = 64;

/// Returns the same number for equal values only; one for all NaN.
template <class Value>
std::uint64_t number_of(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (value != value) value = std::numeric_limits<Value>::quiet_NaN();
    return std::bit_cast<std::uint64_t>(value == 0 ? Value{0} : value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <class Value>
Value value_with(std::uint64_t number) {
  if constexpr (std::is_floating_point_v<Value>)
    return std::bit_cast<Value>(number);
  else
    return static_cast<Value>(number);
}

/// The counts of the values of a class in some of the data.
struct CountsSeen {
  const Source* source;
  std::uint64_t classes, own;  // number of classes, and the one that is counted
  std::uint64_t most;          // values of the result
  std::uint64_t count = 0, nan = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> counts{};

  std::size_t bytes() const { return sizeof(*this) + most / classes * map_bytes; }

  template <class T>
  void take(std::span<const T> elements, std::uint64_t /*first*/) {
    count += elements.size();
    std::uint64_t last = 0;
    std::uint64_t* last_count = nullptr;
    for (const T& element : elements) {
      const auto value = plain::value_of(element);
      if (value != value) {
        ++nan;
        continue;
      }
      const std::uint64_t number = number_of(value);
      if (number % classes != own) continue;
      if (last_count == nullptr || number != last) {
        last = number;
        last_count = &counts[number];
      }
      ++*last_count;
    }
    require_few();
  }

  void merge(const CountsSeen& other) {
    count += other.count;
    nan += other.nan;
    for (const auto& [number, more] : other.counts) counts[number] += more;
    require_few();
  }

  /// Keeps maps small if the result has too few values.
  void require_few() const {
    if (counts.size() <= most) return;
    throw plain::difference(*source, "the number of distinct values", int128{most},
                            int128{counts.size()}, "there are at least so many");
  }
};

/// A value of a result with its count; NaN comes last of equal counts.
template <class Value>
struct Counted {
  Value value;
  std::uint64_t count;

  bool is_nan() const { return value != value; }
  bool comes_before(const Counted& other) const {
    if (count != other.count) return count > other.count;
    return !is_nan() && (other.is_nan() || value < other.value);
  }
};

/// The values of a result, each with the count that it has in the data.
template <class Value>
class ValuesToCheck {
 public:
  /// Throws Error(verify) unless the values are in their order.
  ValuesToCheck(const Source& source, const Distinct& found) : source_(source) {
    for (const DistinctValue& each : found.values) {
      const Counted<Value> next{plain_value(each.value), each.count};
      if (!values_.empty() && !values_.back().comes_before(next)) {
        throw plain::difference(source, "a value of the list", each.value, before_,
                                "values are in the order of their counts, and then of values");
      }
      before_ = each.value;
      values_.push_back(next);
      counts_[number_of(next.value)] = each.count;
    }
  }

  /// Takes the number of elements that have a value.
  void take(Value value, std::uint64_t count) {
    const Counted<Value> counted{value, count};
    if (!values_.empty() && !values_.back().comes_before(counted)) ++not_behind_;
    const auto listed = counts_.find(number_of(value));
    if (listed == counts_.end()) return;
    require_same(source_, "the count of " + to_string(scalar_of(value)), int128{listed->second},
                 int128{count});
    ++seen_;
  }

  /// Throws Error(verify) unless the list has the most frequent of so many values.
  void require_all(std::uint64_t most, std::uint64_t distinct) const {
    require_same(source_, "the number of counts", int128{values_.size()},
                 int128{std::min(most, distinct)});
    require_same(source_, "the number of values up to the last of the list", int128{values_.size()},
                 int128{not_behind_});
    require_same(source_, "the number of values of the list that the data have",
                 int128{values_.size()}, int128{seen_});
  }

 private:
  static Value plain_value(const Scalar& scalar) {
    if constexpr (std::is_floating_point_v<Value>)
      return std::get<double>(scalar);
    else
      return static_cast<Value>(std::get<int128>(scalar));
  }
  static Scalar scalar_of(Value value) {
    if constexpr (std::is_floating_point_v<Value>)
      return value;
    else
      return int128{value};
  }

  const Source& source_;
  std::vector<Counted<Value>> values_{};
  std::unordered_map<std::uint64_t, std::uint64_t> counts_{};  // by number
  Scalar before_{};
  std::uint64_t seen_ = 0, not_behind_ = 0;
};

/// Returns the largest number of values for which the result may be right.
std::uint64_t most_values(const Source& source, const Distinct& found) {
  constexpr double most_errors = 6, few = 8;
  double most = std::ceil(found.estimate / (1 - most_errors * distinct_relative_error) + few);
  if (found.distinct) most = static_cast<double>(*found.distinct);
  const std::uint64_t elements =
      source.is_produced() ? found.count : source.bytes() / source.element_bytes();
  return most < static_cast<double>(elements) ? static_cast<std::uint64_t>(most) : elements;
}

void require_near(const Source& source, double estimate, std::uint64_t distinct) {
  constexpr double most_errors = 6, few = 8;
  const auto values = static_cast<double>(distinct);
  if (std::abs(estimate - values) <= most_errors * distinct_relative_error * values + few) return;
  throw plain::difference(source, "the estimate", estimate, int128{distinct},
                          "it may be six standard errors away");
}

template <class T>
void verify_distinct_values(Coordinator& coordinator, const Source& source,
                            const DistinctOptions& options, const Distinct& found,
                            const PassOptions& wanted) {
  using Value = decltype(plain::value_of(T{}));
  ValuesToCheck<Value> values(source, found);
  const std::uint64_t most = most_values(source, found);
  const std::uint64_t limit = coordinator.options().memory_bytes != 0
                                  ? coordinator.options().memory_bytes
                                  : available_host_bytes() / 4;
  const std::uint64_t classes = most * map_bytes / std::max<std::uint64_t>(limit, 1) + 1;
  std::uint64_t distinct = 0, count = 0, nan = 0;
  for (std::uint64_t own = 0; own < classes; ++own) {
    const auto seen = plain::look_at_all<T>(coordinator.options(), wanted, source,
                                            CountsSeen{&source, classes, own, most});
    count = seen.count;
    nan = seen.nan;
    distinct += seen.counts.size();
    for (const auto& [number, each] : seen.counts) values.take(value_with<Value>(number), each);
  }
  if constexpr (std::is_floating_point_v<Value>) {
    if (nan != 0) values.take(std::numeric_limits<Value>::quiet_NaN(), nan);
  }
  distinct += nan != 0 ? 1 : 0;
  require_same(source, "count", int128{found.count}, int128{count});
  require_same(source, "nan", int128{found.nan}, int128{nan});
  require_near(source, found.estimate, distinct);
  if (!found.distinct) return;
  require_same(source, "the number of distinct values", int128{*found.distinct}, int128{distinct});
  values.require_all(options.counts, distinct);
}

}  // namespace

void verify_distinct(Coordinator& coordinator, const Source& source, const DistinctOptions& options,
                     const Distinct& found, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    verify_distinct_values<T>(coordinator, source, options, found, wanted);
  });
}

}  // namespace ooc
