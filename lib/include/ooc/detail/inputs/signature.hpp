#pragma once

#include <ooc/dtype.hpp>
#include <ooc/records.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

// Compares the functions of an operator with those that a pass calls, so that a wrong signature is
// refused at compile time, in one sentence.

namespace ooc::detail {

/// How a function of an operator fits.
enum class Fit {
  right,
  by_value,   // it changes a copy, which is lost
  not_void,   // it returns something, which is lost
  not_const,  // it fits an operator that is not const
  none,       // there is no such function, or it takes something else
};

/// Stands for an argument that a function is to change.
template <class T>
struct Changed {};

/// A T& can be bound to it, but a T cannot be made of it: that is ambiguous.
template <class T>
struct OnlyReference {
  OnlyReference(const OnlyReference&) = delete;
  operator T&() const;
  operator T&&() const;
};

template <class T>
struct Argument {
  using Passed = T;
  using Moved = T;
  using Bound = T;
};
template <class T>
struct Argument<Changed<T>> {
  using Passed = T&;
  using Moved = T&&;
  using Bound = OnlyReference<T>&;
};

/// True if a function takes copies of arguments that it is to change. A function that takes
/// references refuses values. One that accepts them may still be right: `const T&`, whose T refers
/// to the argument, or `auto&&`.
template <class Call, class Op, class... Args>
inline constexpr bool takes_copies = [] {
  if constexpr (std::is_invocable_v<Call, Op, typename Argument<Args>::Moved...>) {
    return !std::is_invocable_v<Call, Op, typename Argument<Args>::Bound...>;
  } else {
    return false;
  }
}();

/// Returns how a function fits, with these arguments. `Call` calls the function of its name.
template <class Call, class Op, class... Args>
constexpr Fit fit_of() {
  if constexpr (!std::is_invocable_v<Call, const Op&, typename Argument<Args>::Passed...>) {
    return std::is_invocable_v<Call, Op&, typename Argument<Args>::Passed...> ? Fit::not_const
                                                                              : Fit::none;
  } else if constexpr (!std::is_void_v<std::invoke_result_t<Call, const Op&,
                                                            typename Argument<Args>::Passed...>>) {
    return Fit::not_void;
  } else {
    constexpr bool has_changed = (!std::is_same_v<Args, typename Argument<Args>::Passed> || ...);
    if constexpr (has_changed) {
      if (takes_copies<Call, const Op&, Args...>) return Fit::by_value;
    }
    return Fit::right;
  }
}

/// False: the condition of a static_assert that is to fail.
template <class>
inline constexpr bool is_right = false;

template <class Op>
concept HasInput = requires {
  typename Op::Input;
};
template <class Op>
concept HasOutput = requires {
  typename Op::Output;
};
template <class Op>
concept HasRecords = HasOutput<Op> && HasInput<Op>;
template <class Op>
concept HasPartial = requires {
  typename Op::Partial;
};

/// A type of records in files: numbers, std::byte, or structs and arrays that memcpy() may copy.
template <class T>
inline constexpr bool is_record =
    std::is_same_v<T, std::remove_cv_t<T>>&& std::is_trivially_copy_constructible_v<T>&&
        std::is_trivially_destructible_v<T> &&
    !std::is_pointer_v<T>;
template <>
inline constexpr bool is_record<bool> = false;
template <>
inline constexpr bool is_record<long double> = false;
template <class T>
requires(std::is_integral_v<T> && sizeof(T) > 8) inline constexpr bool is_record<T> = false;
template <class T>
inline constexpr bool is_record<Row<T>> = IsElement<T>&& is_record<T>;
template <class T, std::size_t count>
inline constexpr bool is_record<T[count]> = is_record<T>;
template <class T, std::size_t count>
inline constexpr bool is_record<std::array<T, count>> = is_record<T>;

/// True if a type, or each type of a std::tuple, is a record.
template <class Records>
inline constexpr bool are_records = is_record<Records>;
template <class... Records>
inline constexpr bool are_records<std::tuple<Records...>> = (is_record<Records> && ...);

/// An operator that reads records.
template <class Op>
concept Reads = HasInput<Op> && are_records<typename Op::Input>;
/// An operator that makes records.
template <class Op>
concept Makes = HasOutput<Op> && are_records<typename Op::Output>;

/// Says why an operator does not read records.
template <class Op>
constexpr void explain_input() {
  if constexpr (!HasInput<Op>) {
    static_assert(is_right<Op>, "an operator says what it reads: `using Input = float;`");
  } else {
    static_assert(is_right<Op>,
                  "the Input of an operator is a number, an ooc::Row of numbers, or a struct of "
                  "numbers, not bool (use std::uint8_t), a pointer, or what memcpy() may not copy");
  }
}

/// Says why an operator does not make records.
template <class Op>
constexpr void explain_output() {
  if constexpr (!HasOutput<Op>) {
    static_assert(is_right<Op>, "an operator says what it makes: `using Output = float;`");
  } else {
    static_assert(is_right<Op>,
                  "the Output of an operator is a number, an ooc::Row of numbers, or a struct of "
                  "numbers, not bool (use std::uint8_t), a pointer, or what memcpy() may not copy");
  }
}

}  // namespace ooc::detail
