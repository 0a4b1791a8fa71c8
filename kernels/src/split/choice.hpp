#pragma once

#include "base/value_place.hpp"

#include <ooc/detail/base/random_words.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// The output of a record. This is the only definition: the loops of both devices are compiled from
// it, so they cannot differ.

namespace ooc::detail::splitting {

/// Stands for an output that does not exist.
inline constexpr std::uint16_t no_output = 0xffff;

/// The type in which an element and an edge are compared: exactly.
template <class T>
using Key =
    std::conditional_t<is_floating<T>, double,
                       std::conditional_t<std::unsigned_integral<T>, std::uint64_t, std::int64_t>>;

/// Edges as keys of an element type, those apart that are below or above all of its values.
struct KeyEdges {
  ElementType type;
  std::vector<std::uint64_t> keys;  // the bits of a Key
  std::uint16_t below = 0;          // edges that no value is below
};

/// An integer in each record is the number of its output.
struct NumberPlace {
  ValuePlace place;
  std::uint16_t outputs = 0;  // that exist
};

/// Records whose value is in a range have output `inside`, which is 0 or 1, and all others have the
/// other one.
struct KeyRange {
  ValuePlace place;
  std::uint64_t least = 0;     // the bits of a Key
  std::uint64_t greatest = 0;  // the same; no value is in the range if it is below `least`
  std::uint16_t inside = 0;
};

/// Random outputs.
struct RandomOutputs {
  RandomWords words;
  std::uint16_t outputs;
};

using Choice = std::variant<KeyEdges, NumberPlace, KeyRange, RandomOutputs>;

/// Records of a step that are to be assigned.
struct ChosenRecords {
  const std::byte* data;
  std::size_t record_bytes;
  std::uint64_t first;  // index of the first one in the source
  std::size_t count;
};

template <class T>
constexpr Key<T> key_of(T value) {
  if constexpr (is_floating<T>) {
    return to_double(value);
  } else {
    return value;
  }
}

/// Finds the output of an element by a search among edges.
template <class T>
struct ByEdges {
  const T* values;
  const Key<T>* edges;
  std::uint32_t count;  // of edges
  std::uint16_t below;

  constexpr std::uint16_t operator()(std::size_t index) const {
    const Key<T> key = key_of(values[index]);
    std::uint32_t found = 0;
    for (std::uint32_t left = count; left > 1; left -= left / 2) {
      found = nearer(found, left / 2, key);
    }
    return number_of(found, key);
  }

  /// One step of the search for the first edge that the key is below: it is not among the next
  /// `distance` ones if the key is not below their last. A product has no branch, which would be
  /// mispredicted half of the time.
  constexpr std::uint32_t nearer(std::uint32_t found, std::uint32_t distance, Key<T> key) const {
    return found +
           distance * static_cast<std::uint32_t>(!is_below(key, edges[found + distance - 1]));
  }

  /// Returns the output of a key at the end of the search.
  constexpr std::uint16_t number_of(std::uint32_t found, Key<T> key) const {
    const std::uint32_t passed = count == 0 || is_below(key, edges[found]) ? 0 : 1;
    return static_cast<std::uint16_t>(below + found + passed);
  }

  static constexpr bool is_below(Key<T> key, Key<T> edge) { return key < edge; }  // not NaN
};

/// The values of records that are values of this machine.
template <class T>
struct ElementValue {
  const T* values;

  constexpr T operator()(std::size_t index) const { return values[index]; }
};

/// The values of records that may lie anywhere in these, in any byte order.
template <class T>
struct FieldValue {
  const std::byte* first;
  std::size_t record_bytes;
  bool swapped;

  constexpr T operator()(std::size_t index) const {
    const std::byte* const field = first + index * record_bytes;
    std::array<std::byte, sizeof(T)> bytes{};
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes[i] = field[swapped ? sizeof(T) - 1 - i : i];
    }
    return std::bit_cast<T>(bytes);
  }
};

template <class T>
struct ByNumber {
  FieldValue<T> value_at;
  std::uint16_t outputs;

  constexpr std::uint16_t operator()(std::size_t index) const {
    const T value = value_at(index);
    const bool exists = !std::cmp_less(value, 0) && std::cmp_less(value, outputs);
    return exists ? static_cast<std::uint16_t>(value) : no_output;
  }
};

template <class T, class ValueAt>
struct ByRange {
  ValueAt value_at;
  Key<T> least, greatest;
  std::uint16_t inside;

  constexpr std::uint16_t operator()(std::size_t index) const {
    const Key<T> key = key_of(value_at(index));
    const bool is_inside = key >= least && key <= greatest;  // not NaN
    return static_cast<std::uint16_t>(is_inside ? inside : 1 - inside);
  }
};

struct AtRandom {
  std::uint64_t first;
  RandomOutputs random;

  constexpr std::uint16_t operator()(std::size_t index) const {
    const std::uint64_t high = random.words(first + index) >> 32;
    return static_cast<std::uint16_t>(high * random.outputs >> 32);
  }
};

template <class T, class Call>
void with_range(const KeyRange& range, const ChosenRecords& records, Call&& call) {
  const auto least = std::bit_cast<Key<T>>(range.least);
  const auto greatest = std::bit_cast<Key<T>>(range.greatest);
  const std::byte* const first = records.data + range.place.offset;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(T) == 0;
  if (is_aligned && records.record_bytes == sizeof(T) && !range.place.swapped) {
    const ElementValue<T> value_at{reinterpret_cast<const T*>(first)};
    call(ByRange<T, ElementValue<T>>{value_at, least, greatest, range.inside});
  } else {
    const FieldValue<T> value_at{first, records.record_bytes, range.place.swapped};
    call(ByRange<T, FieldValue<T>>{value_at, least, greatest, range.inside});
  }
}

/// Calls `call` with what says the output of each record. `edges`: the keys of KeyEdges, in the
/// memory of the device.
template <class Call>
void with_choice(const Choice& choice, const ChosenRecords& records, const std::uint64_t* edges,
                 Call&& call) {
  if (const auto* const by_edges = std::get_if<KeyEdges>(&choice)) {
    visit(by_edges->type, [&]<class T>(std::type_identity<T>) {
      call(ByEdges<T>{reinterpret_cast<const T*>(records.data),
                      reinterpret_cast<const Key<T>*>(edges),
                      static_cast<std::uint32_t>(by_edges->keys.size()), by_edges->below});
    });
  } else if (const auto* const number = std::get_if<NumberPlace>(&choice)) {
    visit(number->place.type, [&]<class T>(std::type_identity<T>) {
      if constexpr (!is_floating<T>) {
        const std::byte* const first = records.data + number->place.offset;
        call(ByNumber<T>{{first, records.record_bytes, number->place.swapped}, number->outputs});
      }
    });
  } else if (const auto* const range = std::get_if<KeyRange>(&choice)) {
    visit(range->place.type,
          [&]<class T>(std::type_identity<T>) { with_range<T>(*range, records, call); });
  } else {
    call(AtRandom{records.first, std::get<RandomOutputs>(choice)});
  }
}

/// Writes the output of each record to `outputs`, in host memory.
void assign_cpu(const Choice& choice, const ChosenRecords& records, std::uint16_t* outputs);

/// Enqueues the same for device memory.
void assign_cuda(Stream& stream, const Choice& choice, const ChosenRecords& records,
                 std::uint16_t* outputs);

/// Writes `first` and the integers that follow it to `numbers`, in host memory.
void number_cpu(std::uint64_t first, std::size_t count, std::int64_t* numbers);

/// Enqueues the same for device memory.
void number_cuda(Stream& stream, std::uint64_t first, std::size_t count, std::int64_t* numbers);

}  // namespace ooc::detail::splitting
