#pragma once

#include <ooc/io/source.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace ooc {

/// The type of the elements that an operator's Input consists of, one after another. Numbers and
/// arrays of numbers are known. A struct declares it as a member type:
///
///     struct Point {
///       using Element = float;  // three of them
///       float x, y, z;
///     };
///
/// For a struct that cannot be changed, specialise ElementOf. `std::byte` stands for the bytes of
/// elements of any type. `void`: unknown; such a struct reads plain bytes only.
template <class T>
struct ElementOf {
  using type = void;
};

template <IsElement T>
struct ElementOf<T> {
  using type = T;
};

template <>
struct ElementOf<std::byte> {
  using type = std::byte;
};

template <class T>
requires requires {
  typename T::Element;
}
struct ElementOf<T> {
  using type = typename T::Element;
};

template <class T, std::size_t count>
struct ElementOf<T[count]> : ElementOf<T> {};

template <class T, std::size_t count>
struct ElementOf<std::array<T, count>> : ElementOf<T> {};

namespace detail {

/// What a pass asks of its source.
struct InputType {
  enum class Kind { elements, bytes, unknown };

  std::size_t bytes = 1;  // of one Input
  Kind kind = Kind::bytes;
  ElementType element = ElementType::u1;  // if these are elements
};

template <class T>
constexpr InputType input_type_of() {
  using Element = typename ElementOf<T>::type;
  if constexpr (std::is_void_v<Element>) {
    return {sizeof(T), InputType::Kind::unknown};
  } else if constexpr (std::same_as<Element, std::byte>) {
    return {sizeof(T), InputType::Kind::bytes};
  } else {
    static_assert(IsElement<Element>, "the elements of an Input are numbers or std::byte");
    static_assert(sizeof(T) % sizeof(Element) == 0, "an Input has a whole number of elements");
    return {sizeof(T), InputType::Kind::elements, element_type_of<Element>()};
  }
}

/// Throws Error(bad_input) unless an operator may read the source so.
///
///  -  Plain bytes are read as any Input of which they are a whole number. Those of a .npy file are
///     read as single bytes only, since its header would be taken for data.
///  -  A source of a known type is read as elements of that type. Where an Input has several, it is
///     a row: if the source has a shape of more than one dimension, an Input has all the elements
///     of the last dimension, or of the last two, and so on; else it has any number that divides
///     theirs.
void require_type(const Source& source, const InputType& wanted);

template <class T>
void require_type(const Source& source) {
  require_type(source, input_type_of<T>());
}

}  // namespace detail
}  // namespace ooc
