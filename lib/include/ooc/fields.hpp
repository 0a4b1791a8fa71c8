#pragma once

#include <ooc/detail/base/dtype.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace ooc {

/// A member of a struct and the name of its field in a file.
template <class Struct, class Member>
struct FieldMember {
  const char* name;        ///< of the field; a literal
  Member Struct::*member;  ///< the member that it is read into
};

/// Names the field of a member, for fields().
template <class Struct, class Member>
constexpr FieldMember<Struct, Member> field(const char* name, Member Struct::*member) {
  return {name, member};
}

/// Declares the fields of a struct that an operator reads or makes:
///
///     struct Particle {
///       float x, y, z;
///       std::int16_t kind;
///       static constexpr auto fields =
///           ooc::fields(ooc::field("x", &Particle::x), ooc::field("y", &Particle::y),
///                       ooc::field("z", &Particle::z), ooc::field("kind", &Particle::kind));
///     };
///
/// Members are numbers, or arrays of numbers of one type. A member that is not declared has no
/// useful value. For a struct that cannot be changed, specialise FieldsOf.
template <class... Members>
constexpr std::tuple<Members...> fields(Members... members) {
  return {members...};
}

namespace detail {

template <class T>
inline constexpr bool is_fields = false;
template <class... Structs, class... Members>
inline constexpr bool is_fields<std::tuple<FieldMember<Structs, Members>...>> = true;

}  // namespace detail

/// The fields of a struct: its `fields`, unless a specialisation has a `value` that fields() has
/// made. A file's fields are found by their names, whatever their order, places and byte order in
/// the file; those that the struct does not have are left out.
template <class T>
struct FieldsOf {};

/// The fields that a struct declares itself.
template <class T>
requires(detail::is_fields<std::remove_cvref_t<decltype(T::fields)>>) struct FieldsOf<T> {
  static constexpr auto value = T::fields;  ///< the declared ones
};

namespace detail {

template <class T>
concept HasFields = requires {
  FieldsOf<T>::value;
};

/// The elements that a member consists of.
template <class T>
struct MemberElements {
  using Element = T;
  static constexpr std::size_t count = 1;
};
template <class T, std::size_t length>
struct MemberElements<T[length]> {
  using Element = typename MemberElements<T>::Element;
  static constexpr std::size_t count = length * MemberElements<T>::count;
};
template <class T, std::size_t length>
struct MemberElements<std::array<T, length>> : MemberElements<T[length]> {};

template <class T, class Struct, class Member>
Field field_of(const FieldMember<Struct, Member>& declared) {
  static_assert(std::is_same_v<T, Struct>, "the fields of a struct are its own, not of a base");
  using Elements = MemberElements<Member>;
  static_assert(IsElement<typename Elements::Element>,
                "the fields of a struct are numbers, or arrays of numbers");
  // The ABI of all compilers on Linux says that a pointer to a data member is its offset.
  const auto offset = std::bit_cast<std::ptrdiff_t>(declared.member);
  return {.name = declared.name,
          .element = element_type_of<typename Elements::Element>(),
          .offset = static_cast<std::size_t>(offset),
          .count = Elements::count};
}

}  // namespace detail

/// Returns the type of a dataset of T, in this machine's byte order: of a number, or of a struct
/// that declares its fields. A Target takes it as its `type`.
template <class T>
DType type_of() {
  if constexpr (detail::HasFields<T>) {
    static_assert(std::is_trivially_copyable_v<T>, "a struct of a file is copied byte by byte");
    constexpr auto& fields = FieldsOf<T>::value;
    static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(fields)>> != 0,
                  "a struct has at least one field");
    DType type;
    type.struct_bytes = sizeof(T);
    std::apply(
        [&](const auto&... each) { (type.fields.push_back(detail::field_of<T>(each)), ...); },
        fields);
    std::ranges::sort(type.fields, {}, &Field::offset);
    return type;
  } else {
    return {element_type_of<T>()};
  }
}

/// Returns values in the memory of the host, numbers or structs that declare their fields, as a
/// source, in rows of `columns`. Nothing is copied: the values must outlive the source and its
/// sections, and not change during a pass. Temporaries are refused. Throws Error(usage) unless the
/// values are whole rows.
///
///     const std::vector<float> values = simulate();
///     const auto [sum, stats] = ooc::fold(coordinator, Sum{}, ooc::from_memory(values));
template <std::ranges::contiguous_range Values>
requires std::ranges::borrowed_range<Values> Source from_memory(Values&& values,
                                                                std::uint64_t columns = 1) {
  const std::span all(std::ranges::data(values), std::ranges::size(values));
  return from_memory(std::as_bytes(all), type_of<std::ranges::range_value_t<Values>>(), columns);
}

/// Refuses values that would end before the source.
template <std::ranges::contiguous_range Values>
requires(!std::ranges::borrowed_range<Values>) Source
    from_memory(Values&& values, std::uint64_t columns = 1)
= delete;

}  // namespace ooc
