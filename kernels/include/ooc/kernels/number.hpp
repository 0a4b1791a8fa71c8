#pragma once

#include <ooc/io/language.hpp>

#include <string>
#include <variant>

namespace ooc {

__extension__ using int128 = __int128;

/// A value of a dataset, or a sum of them: an exact integer for integer types, a double for
/// floating types, nothing where there is no such value (the minimum of no elements).
///
///     const ooc::Statistics found = ooc::reduce(coordinator, source).value;
///     if (found.max.has_value()) std::cout << found.max.value() << '\n';  // as a double
///     std::cout << to_string(found.sum) << '\n';                         // all digits
///
/// It is a std::variant too: std::get<ooc::int128>() gives an integer exactly.
class Number : public std::variant<std::monostate, int128, double> {
 public:
  using variant::variant;

  bool has_value() const noexcept { return !std::holds_alternative<std::monostate>(*this); }
  bool is_integer() const noexcept { return std::holds_alternative<int128>(*this); }

  /// The nearest double. Throws Error(usage) if there is no value.
  double value() const;
};

/// All digits, in base ten.
std::string to_string(int128 value);

/// The shortest text that gives the same value again; "nothing" if there is none.
std::string to_string(const Number& number);

}  // namespace ooc
