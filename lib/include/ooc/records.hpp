#pragma once

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ooc {

/// The Input or Output of an operator that works on rows of elements, whose number is known at run
/// time: the columns of an input are those of its source (see Source::columns()).
///
///     struct ColumnMeans {
///       using Input = ooc::Row<float>;
///       using Partial = std::vector<double>;
///       void consume(ooc::Stream&, ooc::DeviceRows<const float> in, Partial& sums) const;
///       void merge(Partial& total, const Partial& part) const;
///     };
template <class T>
struct Row {};

/// Rows of a dataset on the device, one after another. `size` counts elements. Rows are aligned to
/// their elements only. Neighbouring rows are there if the operator asks for them (see
/// FoldOperator).
template <class T>
struct DeviceRows : DeviceSpan<T> {
  std::uint64_t first = 0;  ///< index of the first row in the dataset
  std::size_t columns = 1;  ///< elements of a row
  std::size_t before = 0;   ///< rows before these that may be read
  std::size_t after = 0;    ///< rows after these that may be read

  /// Returns the number of rows.
  constexpr std::size_t rows() const noexcept { return this->size / columns; }

  /// Returns a row; the neighbour before the first has index -1.
  constexpr DeviceSpan<T> row(std::ptrdiff_t index) const noexcept {
    return {this->data + index * static_cast<std::ptrdiff_t>(columns), columns};
  }
};

namespace detail {

/// The records of an operator's Input or Output on the device.
template <class Record>
struct RecordView {
  using Input = DeviceWindow<const Record>;
  using Output = DeviceChunk<Record>;
  using Element = Record;

  static Input input(const Record* data, std::uint64_t first, std::size_t records,
                     std::size_t /*columns*/, std::size_t before, std::size_t after) {
    return {{{data, records}, first}, before, after};
  }
  static Output output(Record* data, std::uint64_t first, std::size_t records,
                       std::size_t /*columns*/) {
    return {{data, records}, first};
  }
};

template <class T>
struct RecordView<Row<T>> {
  using Input = DeviceRows<const T>;
  using Output = DeviceRows<T>;
  using Element = T;

  static Input input(const T* data, std::uint64_t first, std::size_t records, std::size_t columns,
                     std::size_t before, std::size_t after) {
    return {{data, records * columns}, first, columns, before, after};
  }
  static Output output(T* data, std::uint64_t first, std::size_t records, std::size_t columns) {
    return {{data, records * columns}, first, columns};
  }
};

template <class Record>
inline constexpr bool is_row = false;
template <class T>
inline constexpr bool is_row<Row<T>> = true;

}  // namespace detail

/// The form in which an operator gets its Input: DeviceWindow<const T>, which is a
/// DeviceChunk<const T>, or DeviceRows<const T> for Row<T>.
template <class Input>
using DeviceInput = typename detail::RecordView<Input>::Input;

/// The form in which an operator gets room for its Output: DeviceChunk<T>, which is a
/// DeviceSpan<T>, or DeviceRows<T> for Row<T>.
template <class Output>
using DeviceOutput = typename detail::RecordView<Output>::Output;

/// The element type of an operator's Input, which consists of one or more elements of that type.
/// Defined for numbers, rows and arrays of numbers. A struct declares it as a member type:
///
///     struct Point {
///       using Element = float;  // three of them
///       float x, y, z;
///     };
///
/// For a struct that cannot be changed, specialise ElementOf. `std::byte` means the bytes of
/// elements of any type. `void` means unknown; such a struct can be read from plain bytes, or, if
/// it declares its fields (see fields()), from files of structs.
template <class T>
struct ElementOf {
  using type = void;  ///< unknown
};

/// A number is its own element.
template <IsElement T>
struct ElementOf<T> {
  using type = T;  ///< the number
};

/// Bytes of elements of any type.
template <>
struct ElementOf<std::byte> {
  using type = std::byte;  ///< any
};

/// A struct that declares its elements.
template <class T>
requires requires {
  typename T::Element;
}
struct ElementOf<T> {
  using type = typename T::Element;  ///< as declared
};

/// Rows have the elements of their type.
template <class T>
struct ElementOf<Row<T>> : ElementOf<T> {};

/// Arrays have the elements of their type.
template <class T, std::size_t count>
struct ElementOf<T[count]> : ElementOf<T> {};

/// Arrays have the elements of their type.
template <class T, std::size_t count>
struct ElementOf<std::array<T, count>> : ElementOf<T> {};

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
/// made. Fields of a file are matched by name, whatever their order, offsets and byte order in the
/// file; those that the struct does not have are skipped.
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
requires std::ranges::borrowed_range<Values>
[[nodiscard]] Source from_memory(Values&& values, std::uint64_t columns = 1) {
  const std::span all(std::ranges::data(values), std::ranges::size(values));
  return from_memory(std::as_bytes(all), type_of<std::ranges::range_value_t<Values>>(), columns);
}

/// Refuses temporaries, which would be destroyed before the source.
template <std::ranges::contiguous_range Values>
requires(!std::ranges::borrowed_range<Values>) Source
    from_memory(Values&& values, std::uint64_t columns = 1)
= delete;

/// Sources that a pass reads side by side, made by zip(). Refers to the sources, which must outlive
/// it.
template <std::size_t count>
class Zipped {
 public:
  /// Called by zip().
  explicit Zipped(const std::array<const Source*, count>& sources) : sources_(sources) {}
  /// Returns the source of an index, which is less than `count`.
  const Source& operator[](std::size_t index) const { return *sources_[index]; }

 private:
  std::array<const Source*, count> sources_;
};

/// Returns sources to be read side by side: an operator whose Input is a `std::tuple` gets the same
/// records of each, as one argument for each. They need equally many records, of any types.
///
///     struct MaskedSum {
///       using Input = std::tuple<float, std::uint8_t>;
///       using Partial = double;
///       void consume(ooc::Stream&, ooc::DeviceChunk<const float> values,
///                    ooc::DeviceChunk<const std::uint8_t> mask, Partial& sum) const;
///       void merge(Partial& total, const Partial& part) const { total += part; }
///     };
///     ooc::fold(coordinator, MaskedSum{}, ooc::zip(values, mask));
///
/// A partition has the bytes of all sources together. Sources that are cached in part are read in
/// one way, which suits most of their bytes. Temporaries are refused: give each source a name.
template <std::same_as<Source>... Sources>
requires(sizeof...(Sources) >= 2)
    [[nodiscard]] Zipped<sizeof...(Sources)> zip(const Sources&... sources) {
  return Zipped<sizeof...(Sources)>({&sources...});
}

/// Refuses temporaries, which would be destroyed before the Zipped.
template <class... Sources>
requires((std::same_as<std::remove_cvref_t<Sources>, Source> && ...) &&
         (!std::is_lvalue_reference_v<Sources> || ...)) void zip(Sources&&... sources) = delete;

/// The order in which the partial results of a fold are merged. An operator sets it by
/// `static constexpr ooc::Merge merge_order = ...`.
enum class Merge {
  /// One partial for each partition of the data, merged in a fixed tree by their place. The result
  /// has the same bits whatever the size of chunks, the number of streams and the state of the page
  /// cache, also if merge() rounds. The default.
  by_partition,

  /// One partial for each stream, which consumes any of the data. Suits results that do not depend
  /// on the order (counts, integers, extremes) and large partials.
  unordered,

  /// As `unordered`, but each partial is merged into the total after every step: merge(total, part)
  /// removes from `part` what it has merged. Suits partials that keep results by their place
  /// and would otherwise grow with the data.
  by_place,

  /// One partial for each partition, merged in the order of the data; streams wait for their turn.
  /// Suits merges that are not associative.
  in_order,
};

}  // namespace ooc
