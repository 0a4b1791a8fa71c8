#include "split/rules.hpp"

#include <ooc/detail/device/decoder.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
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

Choice choice_by_value(const SplitByValue& rule, const Source& source, std::size_t outputs) {
  check_edges(rule.edges, outputs);
  if (source.type() && source.type()->is_struct()) {
    throw Error(ErrorKind::bad_input, source.name() + ": holds structs " + code_of(*source.type()),
                {.why = "numbers are compared with the edges",
                 .hint = "split it by one of its fields, if that is an integer"});
  }
  return visit(source.element(),
               [&]<class T>(std::type_identity<T>) -> Choice { return keys_of<T>(rule.edges); });
}

bool is_integer(ElementType element) {
  return visit(element, []<class T>(std::type_identity<T>) { return !is_floating<T>; });
}

Error no_integer(const Source& source, const std::string& column, const std::string& code) {
  return {ErrorKind::usage,
          source.name() + ": " + column + " is " + code + ", which is no integer",
          {.why = "the number of an output is an integer"}};
}

ColumnPlace place_of(ElementType element, bool swapped, std::uint64_t offset) {
  const bool is_signed =
      visit(element, []<class T>(std::type_identity<T>) { return std::is_signed_v<T>; });
  return {static_cast<std::uint8_t>(size_of(element)), is_signed, swapped, offset, 0};
}

ColumnPlace field_place(const std::string& name, const Source& source) {
  const std::vector<Field>& fields = source.type()->fields;
  const auto found = std::ranges::find(fields, name, &Field::name);
  if (found == fields.end()) {
    throw Error(ErrorKind::usage, source.name() + ": has no field " + name,
                {.hint = "its fields are those of " + code_of(*source.type())});
  }
  if (!is_integer(found->element) || found->count != 1) {
    throw no_integer(source, "the field " + name, code_of(*found));
  }
  return place_of(found->element, found->swapped, found->offset);
}

ColumnPlace column_place(const std::string& text, const Source& source) {
  const std::uint64_t columns = source.columns().value_or(1);
  std::uint64_t column = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, column);
  if (failed != std::errc{} || rest != end || column >= columns) {
    throw Error(
        ErrorKind::usage, source.name() + ": has no column " + text,
        {.hint = columns == 0   ? "its rows have no elements"
                 : columns == 1 ? "its only column is 0"
                                : "columns are numbered from 0 to " + std::to_string(columns - 1)});
  }
  if (!is_integer(source.element())) {
    throw no_integer(source, "column " + text, code_of(source.type().value_or(DType{})));
  }
  return place_of(source.element(), false, column * size_of(source.element()));
}

Choice choice_by_column(const SplitByColumn& rule, const Source& source, std::size_t outputs) {
  const bool has_fields = source.type() && source.type()->is_struct();
  ColumnPlace place =
      has_fields ? field_place(rule.column, source) : column_place(rule.column, source);
  place.outputs = static_cast<std::uint16_t>(outputs);
  return place;
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
