#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/error.hpp>
#include <ooc/resident.hpp>

#include <string>

#include "device/resident_memory.hpp"

namespace ooc {

Resident::Resident(Coordinator& coordinator, const std::vector<const Source*>& sources,
                   ResidentOptions options)
    : memory_(detail::kept_memory(coordinator.device(), sources, options.device_bytes)) {}

Resident::~Resident() = default;
Resident::Resident(Resident&&) noexcept = default;
Resident& Resident::operator=(Resident&&) noexcept = default;

const Source& Resident::source(std::size_t index) const noexcept {
  return memory_->source(index);
}
std::size_t Resident::sources() const noexcept {
  return memory_->sources();
}

std::uint64_t Resident::resident_bytes() const noexcept {
  return memory_->bytes();
}

std::shared_ptr<const void> Resident::owner_of(const void* address) const noexcept {
  return memory_->owner_of(address);
}

std::shared_ptr<detail::ResidentMemory> detail::memory_of(const Resident& kept) noexcept {
  return kept.memory_;
}

void detail::require_sources(const Resident& kept, std::size_t count) {
  if (kept.sources() == count) return;
  throw Error(ErrorKind::usage,
              "the operator reads " + std::to_string(count) +
                  (count == 1 ? " source, " : " sources, ") + std::to_string(kept.sources()) +
                  " stay on the device",
              {.why = "its Input has one type for each of them",
               .hint = "make a Resident of one source, or of ooc::zip(first, second)"});
}

}  // namespace ooc
