#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <string>
#include <variant>

namespace ooc {

/// An integer of 128 bits, in which sums of integers are exact.
__extension__ using int128 = __int128;

/// A value of a dataset, or a sum of values: an exact integer for integer types, a double for
/// floating types, empty if there is no such value (for example the minimum of no elements).
///
///     const ooc::Statistics found = ooc::reduce(coordinator, source).value;
///     if (found.max.has_value()) std::cout << found.max.value() << '\n';  // as a double
///     std::cout << to_string(found.sum) << '\n';                         // all digits
///
/// It is a std::variant: std::get<ooc::int128>() returns an integer exactly.
class OOC_API Number : public std::variant<std::monostate, int128, double> {
 public:
  using variant::variant;

  /// True unless the number is empty.
  bool has_value() const noexcept { return !std::holds_alternative<std::monostate>(*this); }
  /// True if the number is an exact integer.
  bool is_integer() const noexcept { return std::holds_alternative<int128>(*this); }

  /// Returns the nearest double. Throws Error(usage) if the number is empty.
  double value() const;
};

/// Returns all digits, in base ten.
OOC_API std::string to_string(int128 value);

/// Returns the shortest text that reads back as the same value; "nothing" if the number is empty.
OOC_API std::string to_string(const Number& number);

}  // namespace ooc
