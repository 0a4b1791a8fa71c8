#include "split/rules.hpp"

#include <ooc/detail/device/decoder.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace ooc::detail::splitting {

namespace {

/// Returns a double as an integer. Those that are beyond all elements stay so.
int128 integer_of(double value) {
  constexpr double beyond = 0x1p70;
  return static_cast<int128>(std::clamp(value, -beyond, beyond));
}

/// Returns the least integer that is not below an edge.
int128 raised(const Scalar& edge) {
  if (const auto* const integer = std::get_if<int128>(&edge)) return *integer;
  return integer_of(std::ceil(edge.value()));
}

bool is_less(const Scalar& left, const Scalar& right) {
  if (left.is_integer()) return std::get<int128>(left) < raised(right);
  if (right.is_integer()) return integer_of(std::floor(left.value())) < std::get<int128>(right);
  return left.value() < right.value();
}

/// Returns the least double that is not below an edge.
double raised_double(const Scalar& edge) {
  const double nearest = edge.value();
  const bool is_lower = edge.is_integer() && integer_of(nearest) < std::get<int128>(edge);
  return is_lower ? std::nextafter(nearest, std::numeric_limits<double>::infinity()) : nearest;
}

void check_edges(const std::vector<Scalar>& edges, std::size_t outputs) {
  if (edges.size() + 1 != outputs) {
    throw Error(ErrorKind::usage, std::to_string(edges.size()) + " edges make " +
                                      std::to_string(edges.size() + 1) + " outputs, not " +
                                      std::to_string(outputs));
  }
  const auto is_number = [](const Scalar& edge) {
    return edge.has_value() && std::isfinite(edge.value());
  };
  if (!std::ranges::all_of(edges, is_number)) {
    throw Error(ErrorKind::usage, "the edges must be finite numbers");
  }
  const auto does_not_rise = [](const Scalar& left, const Scalar& right) {
    return !is_less(left, right);
  };
  const auto wrong = std::ranges::adjacent_find(edges, does_not_rise);
  if (wrong == edges.end()) return;
  throw Error(ErrorKind::usage, "the edge " + to_string(*wrong) + " is followed by " +
                                    to_string(*(wrong + 1)) + ", which is not greater");
}

template <class T>
KeyEdges keys_of(const std::vector<Scalar>& edges) {
  KeyEdges keys{.type = element_type_of<T>(), .keys = {}};
  for (const Scalar& edge : edges) {
    if constexpr (is_floating<T>) {
      keys.keys.push_back(std::bit_cast<std::uint64_t>(raised_double(edge)));
    } else {
      const int128 key = raised(edge);
      if (key <= std::numeric_limits<T>::lowest()) ++keys.below;
      if (key <= std::numeric_limits<T>::lowest() || key > std::numeric_limits<T>::max()) continue;
      keys.keys.push_back(static_cast<std::uint64_t>(key));
    }
  }
  return keys;
}

void require_numbers(const Source& source, const std::string& why, const std::string& hint) {
  if (!has_fields(source)) return;
  throw Error(ErrorKind::bad_input, source.name() + ": holds structs " + code_of(*source.type()),
              {.why = why, .hint = hint});
}

Choice choice_by_value(const SplitByValue& rule, const Source& source, std::size_t outputs) {
  check_edges(rule.edges, outputs);
  require_numbers(source, "numbers are compared with the edges",
                  "split it by one of its fields, if that is an integer");
  return visit(source.element(),
               [&]<class T>(std::type_identity<T>) -> Choice { return keys_of<T>(rule.edges); });
}

Choice choice_by_column(const SplitByColumn& rule, const Source& source, std::size_t outputs) {
  const ValuePlace place = place_of(rule.column, source);
  const bool is_integer =
      visit(place.type, []<class T>(std::type_identity<T>) { return !is_floating<T>; });
  if (!is_integer) {
    throw Error(ErrorKind::usage,
                source.name() + (has_fields(source) ? ": the field " : ": column ") + rule.column +
                    " is " + std::string(name_of(place.type)) + ", which is no integer",
                {.why = "the number of an output is an integer"});
  }
  return NumberPlace{place, static_cast<std::uint16_t>(outputs)};
}

/// Returns the least key of a range that begins at `end`. For a floating type, NaN stands for a
/// range that is empty.
template <class T>
auto least_key(const RangeEnd& end) {
  const Scalar& value = end.value;
  if constexpr (is_floating<T>) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double key = raised_double(value);
    const bool is_exact = !value.is_integer() || integer_of(key) == std::get<int128>(value);
    if (end.is_included || !is_exact) return key;
    return key == infinity ? std::numeric_limits<double>::quiet_NaN()
                           : std::nextafter(key, infinity);
  } else {
    const int128 key = raised(value);
    const bool is_exact = value.is_integer() || std::floor(value.value()) == value.value();
    return end.is_included || !is_exact ? key : key + 1;
  }
}

RangeEnd negated(const RangeEnd& end) {
  const auto* const integer = std::get_if<int128>(&end.value);
  return {integer != nullptr ? Scalar(-*integer) : Scalar(-end.value.value()), end.is_included};
}

template <class T>
KeyRange range_of(const FilterByRange& rule, ValuePlace place) {
  KeyRange range{place};
  if constexpr (is_floating<T>) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double least = rule.lower ? least_key<T>(*rule.lower) : -infinity;
    const double greatest = rule.upper ? -least_key<T>(negated(*rule.upper)) : infinity;
    range.least = std::bit_cast<std::uint64_t>(least);
    range.greatest = std::bit_cast<std::uint64_t>(greatest);
  } else {
    const int128 lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
    const int128 least = rule.lower ? std::max(least_key<T>(*rule.lower), lowest) : lowest;
    const int128 greatest =
        rule.upper ? std::min(-least_key<T>(negated(*rule.upper)), highest) : highest;
    const bool is_empty = least > greatest;
    range.least = static_cast<std::uint64_t>(is_empty ? int128{1} : least);
    range.greatest = static_cast<std::uint64_t>(is_empty ? int128{0} : greatest);
  }
  return range;
}

void check_end(const std::optional<RangeEnd>& end) {
  if (!end) return;
  const Scalar& value = end->value;
  if (!value.has_value() || std::isnan(value.value())) {
    throw Error(ErrorKind::usage, "an end of a range is " + to_string(value),
                {.why = "no value is above or below it"});
  }
  if (!value.is_integer()) return;
  const auto integer = std::get<int128>(value);
  if (integer >= std::numeric_limits<std::int64_t>::min() &&
      integer <= std::numeric_limits<std::uint64_t>::max()) {
    return;
  }
  throw Error(ErrorKind::usage, "an end of a range is an integer of more than 64 bits",
              {.hint = "give it as a double"});
}

void check_ends(const FilterByRange& rule) {
  check_end(rule.lower);
  check_end(rule.upper);
  if (!rule.lower || !rule.upper || !is_less(rule.upper->value, rule.lower->value)) return;
  throw Error(ErrorKind::usage, "the range ends at " + to_string(rule.upper->value) +
                                    ", below its beginning at " + to_string(rule.lower->value));
}

Choice choice_by_range(const FilterByRange& rule, const Source& source) {
  check_ends(rule);
  ValuePlace place{source.element()};
  if (!rule.column.empty()) {
    place = place_of(rule.column, source);
  } else {
    require_numbers(source, "numbers are compared with the ends of a range",
                    "filter it by one of its fields");
  }
  return visit(place.type,
               [&]<class T>(std::type_identity<T>) -> Choice { return range_of<T>(rule, place); });
}

Choice choice_by_mask(const Source& mask) {
  require_by_rows(mask);
  require_numbers(mask, "a mask has a number for each record", "use one of its fields");
  const RangeEnd zero{int128{0}};
  return visit(mask.element(), [&]<class T>(std::type_identity<T>) -> Choice {
    KeyRange range = range_of<T>({.lower = zero, .upper = zero}, {mask.element()});
    range.inside = 1;
    return range;
  });
}

std::string words_of(const std::optional<RangeEnd>& end, const std::string& included,
                     const std::string& excluded) {
  return end ? (end->is_included ? included : excluded) + to_string(end->value) : "";
}

}  // namespace

Choice choice_of(const SplitRule& rule, const Source& source, std::size_t outputs) {
  if (outputs == 0 || outputs > most_groups) {
    throw Error(ErrorKind::usage, std::to_string(outputs) + " outputs; between 1 and " +
                                      std::to_string(most_groups) + " are possible");
  }
  if (const auto* const by_value = std::get_if<SplitByValue>(&rule)) {
    return choice_by_value(*by_value, source, outputs);
  }
  if (const auto* const by_column = std::get_if<SplitByColumn>(&rule)) {
    return choice_by_column(*by_column, source, outputs);
  }
  const std::uint64_t seed = std::get<SplitAtRandom>(rule).seed;
  return RandomOutputs{RandomWords(seed), static_cast<std::uint16_t>(outputs)};
}

Choice choice_of(const FilterRule& rule, const Source& source) {
  if (const auto* const range = std::get_if<FilterByRange>(&rule)) {
    return choice_by_range(*range, source);
  }
  return choice_by_mask(*std::get<FilterByMask>(rule).mask);
}

std::string words_of(const FilterRule& rule) {
  const auto* const range = std::get_if<FilterByRange>(&rule);
  if (range == nullptr) return "by a mask";
  const std::string column = range->column.empty() ? "values" : "column " + range->column;
  return column + words_of(range->lower, " from ", " above ") +
         words_of(range->upper, " to ", " below ");
}

std::string words_of(const SplitRule& rule, std::size_t outputs) {
  std::string text = "at random by ";
  if (const auto* const by_value = std::get_if<SplitByValue>(&rule)) {
    text = "by value at";
    for (const Scalar& edge : by_value->edges) text += " " + to_string(edge);
    return text;
  }
  if (const auto* const by_column = std::get_if<SplitByColumn>(&rule)) {
    return "column " + by_column->column;
  }
  return text + std::to_string(std::get<SplitAtRandom>(rule).seed) + " into " +
         std::to_string(outputs);
}

}  // namespace ooc::detail::splitting
