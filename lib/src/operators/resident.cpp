#include <ooc/resident.hpp>

#include <ooc/error.hpp>

#include "device/resident_memory.hpp"

namespace ooc {

namespace {

const Source& readable_again(const Source& source) {
  if (!source.is_produced()) return source;
  throw Error(ErrorKind::usage, source.name() + ": cannot stay on the device",
              {.why = "it is read once, so there is no pass after the first",
               .hint = "write it to a file first"});
}

}  // namespace

Resident::Resident(Coordinator& coordinator, const Source& source, ResidentOptions options)
    : memory_(std::make_unique<detail::ResidentMemory>(coordinator.device(), readable_again(source),
                                                       options.device_bytes)) {}

Resident::~Resident() = default;
Resident::Resident(Resident&&) noexcept = default;
Resident& Resident::operator=(Resident&&) noexcept = default;

const Source& Resident::source() const noexcept {
  return memory_->source();
}

std::uint64_t Resident::resident_bytes() const noexcept {
  return memory_->bytes();
}

}  // namespace ooc
