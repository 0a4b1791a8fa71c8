#include "pass/pass_parts.hpp"

#include "device/resident_memory.hpp"

namespace ooc::detail {

bool PassParts::resident_places(std::size_t step, std::span<std::byte*> found) const {
  if (resident == nullptr) return false;
  if (plan.resident_records() != 0 && !plan.is_resident(step)) return false;
  const RecordRange read = plan.step_read(step);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::uint64_t bytes = plan.record_bytes(i);
    found[i] = resident->place(i, read.first * bytes, read.count * bytes);
    if (found[i] == nullptr) return false;
  }
  return true;
}

std::uint64_t PassParts::resident_bytes() const {
  return resident != nullptr ? resident->used_bytes() : 0;
}

ResidentMemory* resident_memory_for(std::span<const PassInput> inputs, const Operation& operation,
                                    const Layout& layout) {
  ResidentMemory* const memory = resident_memory_of(inputs);
  if (memory == nullptr || layout.plan.resident_records() != 0) return memory;
  std::uint64_t bytes = 0;
  for (const PassInput& input : inputs) bytes += input.source.bytes();
  // Margins of two steps have the same places.
  const bool fills =
      memory->wants_data() && operation.margin().is_empty() && layout.plan.bytes() == bytes;
  return fills ? memory : nullptr;
}

}  // namespace ooc::detail
