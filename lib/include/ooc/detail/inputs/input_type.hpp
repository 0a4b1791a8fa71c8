#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/records.hpp>
#include <ooc/source.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace ooc {

namespace detail {

/// Returns the size of a row (bytes), given the size of an element. Throws Error(bad_input) if
/// files rows of different lengths, or rows have no elements.
OOC_API std::size_t row_bytes_of(const Source& source, std::size_t element_bytes);

/// The shape of the records of a source that an operator reads as its Input.
template <class Input>
RecordShape record_of(const Source& source) {
  using Element = typename RecordView<Input>::Element;
  if constexpr (is_row<Input>) {
    static_assert(IsElement<Element>, "a row consists of numbers");
    return {row_bytes_of(source, sizeof(Element)), alignof(Element)};
  }
  return sizeof(Element);
}

/// The layout of an operator's Input, as a pass requires it of a source.
struct InputType {
  enum class Kind { elements, bytes, unknown };

  std::size_t bytes = 1;  // size of one Input
  Kind kind = Kind::bytes;
  ElementType element = ElementType::u1;  // for Kind::elements
};

template <class T>
constexpr InputType input_type_of(std::size_t record_bytes) {
  using Element = typename ElementOf<T>::type;
  if constexpr (std::is_void_v<Element>) {
    return {record_bytes, InputType::Kind::unknown};
  } else if constexpr (std::same_as<Element, std::byte>) {
    return {record_bytes, InputType::Kind::bytes};
  } else {
    static_assert(IsElement<Element>, "the elements of an Input are numbers or std::byte");
    static_assert(is_row<T> || sizeof(T) % sizeof(Element) == 0,
                  "an Input has a whole number of elements");
    return {record_bytes, InputType::Kind::elements, element_type_of<Element>()};
  }
}

/// Throws Error(bad_input) unless an operator may read the source as `wanted`.
///
///  -  Plain bytes can be read as any Input, if they are a whole number of them. A .npy file
///     opened as plain bytes can be read as single bytes only, because its header would be read
///     as data.
///  -  A source with a type is read as elements of that type. An Input of several elements is a
///     row. If the source's shape has more than one dimension, a row is all elements of the last
///     dimension, or of the last two, and so on. Otherwise a row is any number of elements that
///     divides the source's.
///  -  A source of structs is read as a struct that declares its fields, or as bytes of whole ones.
OOC_API void require_type(const Source& source, const InputType& wanted);

/// Returns how to decode the structs of a source into those that an operator reads. Throws
/// Error(bad_input) that names a field that is missing or has another type.
OOC_API Decoding decoding_of(const Source& source, const DType& wanted);

/// Returns the input of a pass for an operator that reads `record`: one or several elements of the
/// source, one after another.
OOC_API PassInput stored_input(const Source& source, const RecordShape& record);

/// Lets a pass use the memory of a GPU in which its inputs are. Throws Error(usage) if only some of
/// them are there.
OOC_API void use_device_memory(std::span<PassInput> inputs);

/// Returns the input of a pass for an operator. Throws like require_type() and decoding_of().
template <class Input>
PassInput input_of(const Source& source) {
  if constexpr (HasFields<Input>) {
    constexpr bool has_element = !std::is_void_v<typename ElementOf<Input>::type>;
    if (source.type() && (source.type()->is_struct() || !has_element)) {
      Decoding decoding = decoding_of(source, type_of<Input>());
      // Fields that are moved need no alignment in the source.
      const std::size_t alignment = decoding.moves.empty() ? alignof(Input) : 1;
      return {source, {size_of(*source.type()), alignment}, std::move(decoding)};
    }
  }
  const RecordShape record = record_of<Input>(source);
  require_type(source, input_type_of<Input>(record.bytes));
  return stored_input(source, record);
}

}  // namespace detail
}  // namespace ooc
