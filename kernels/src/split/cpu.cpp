#include "split/choice.hpp"

namespace ooc::detail::splitting {

void assign_cpu(const Choice& choice, const ChosenRecords& records, std::uint16_t* outputs) {
  const auto* const by_edges = std::get_if<KeyEdges>(&choice);
  const std::uint64_t* const edges = by_edges != nullptr ? by_edges->keys.data() : nullptr;
  with_choice(choice, records, edges, [&](const auto& output_of) {
    for (std::size_t i = 0; i < records.count; ++i) outputs[i] = output_of(i);
  });
}

}  // namespace ooc::detail::splitting
