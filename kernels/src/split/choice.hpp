#pragma once

#include <ooc/detail/base/random_words.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

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

/// Where the integer of a record is that names its output.
struct ColumnPlace {
  std::uint8_t bytes;  // of the integer
  bool is_signed;
  bool swapped;           // it does not have this machine's byte order
  std::uint64_t offset;   // in the record (bytes)
  std::uint16_t outputs;  // that exist
};

/// Random outputs.
struct RandomOutputs {
  RandomWords words;
  std::uint16_t outputs;
};

using Choice = std::variant<KeyEdges, ColumnPlace, RandomOutputs>;

/// Records of a step that are to be assigned.
struct ChosenRecords {
  const std::byte* data;
  std::size_t record_bytes;
  std::uint64_t first;  // index of the first one in the source
  std::size_t count;
};

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

  static constexpr Key<T> key_of(T value) {
    if constexpr (is_floating<T>) {
      return to_double(value);
    } else {
      return value;
    }
  }
  static constexpr bool is_below(Key<T> key, Key<T> edge) { return key < edge; }  // not NaN
};

/// Reads the output of a record from one of its integers.
struct ByColumn {
  const std::byte* data;
  std::size_t record_bytes;
  ColumnPlace place;

  constexpr std::uint16_t operator()(std::size_t index) const {
    const std::byte* const integer = data + index * record_bytes + place.offset;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < place.bytes; ++i) {  // from the highest byte on
      const unsigned at = place.swapped ? i : place.bytes - 1u - i;
      value = value << 8 | static_cast<std::uint64_t>(integer[at]);
    }
    const bool is_negative = place.is_signed && value >> (8 * place.bytes - 1) != 0;
    const bool exists = !is_negative && value < place.outputs;
    return exists ? static_cast<std::uint16_t>(value) : no_output;
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
  } else if (const auto* const column = std::get_if<ColumnPlace>(&choice)) {
    call(ByColumn{records.data, records.record_bytes, *column});
  } else {
    call(AtRandom{records.first, std::get<RandomOutputs>(choice)});
  }
}

/// Writes the output of each record to `outputs`, in host memory.
void assign_cpu(const Choice& choice, const ChosenRecords& records, std::uint16_t* outputs);

/// Enqueues the same for device memory.
void assign_cuda(Stream& stream, const Choice& choice, const ChosenRecords& records,
                 std::uint16_t* outputs);

}  // namespace ooc::detail::splitting
