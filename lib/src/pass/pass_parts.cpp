#include "pass/pass_parts.hpp"

#include "device/resident_memory.hpp"

namespace ooc {

std::byte* PassParts::resident_place(std::size_t step) const {
  if (resident == nullptr) return nullptr;
  const RecordRange read = plan.step_read(step);
  return resident->place(read.first * plan.record_bytes(0), read.count * plan.record_bytes(0));
}

detail::ResidentMemory* resident_memory_for(std::span<const PassInput> inputs,
                                            const Operation& operation, const Layout& layout) {
  if (inputs.size() != 1 || inputs.front().resident == nullptr) return nullptr;
  detail::ResidentMemory& memory = *inputs.front().resident;
  if (layout.plan.resident_records() != 0) return &memory;
  // Margins of two steps have the same places.
  const bool fills = memory.wants_data() && operation.margin().is_empty() &&
                     layout.plan.bytes() == inputs.front().source.bytes();
  return fills ? &memory : nullptr;
}

}  // namespace ooc
