#include "split/choice.hpp"

#include <array>
#include <numeric>

namespace ooc::detail::splitting {

namespace {

template <class OutputOf>
void assign(const OutputOf& output_of, std::size_t begin, std::size_t end, std::uint16_t* outputs) {
  for (std::size_t i = begin; i < end; ++i) outputs[i] = output_of(i);
}

/// Searches for several values at a time: each step of a search waits for the one before.
template <class T>
void assign(const ByEdges<T>& output_of, std::size_t begin, std::size_t end,
            std::uint16_t* outputs) {
  constexpr std::size_t several = 8;
  for (; end - begin >= several; begin += several) {
    std::array<Key<T>, several> keys;
    std::array<std::uint32_t, several> found{};
    for (std::size_t i = 0; i < several; ++i) keys[i] = key_of(output_of.values[begin + i]);
    for (std::uint32_t left = output_of.count; left > 1; left -= left / 2) {
      for (std::size_t i = 0; i < several; ++i) {
        found[i] = output_of.nearer(found[i], left / 2, keys[i]);
      }
    }
    for (std::size_t i = 0; i < several; ++i) {
      outputs[begin + i] = output_of.number_of(found[i], keys[i]);
    }
  }
  for (; begin < end; ++begin) outputs[begin] = output_of(begin);
}

}  // namespace

void assign_cpu(const Choice& choice, const ChosenRecords& records, std::uint16_t* outputs) {
  const auto* const by_edges = std::get_if<KeyEdges>(&choice);
  const std::uint64_t* const edges = by_edges != nullptr ? by_edges->keys.data() : nullptr;
  with_choice(choice, records, edges,
              [&](const auto& output_of) { assign(output_of, 0, records.count, outputs); });
}

void number_cpu(std::uint64_t first, std::size_t count, std::int64_t* numbers) {
  std::iota(numbers, numbers + count, static_cast<std::int64_t>(first));
}

}  // namespace ooc::detail::splitting
