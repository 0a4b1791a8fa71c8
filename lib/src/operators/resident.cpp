#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/error.hpp>
#include <ooc/resident.hpp>

#include <string>

#include "device/resident_memory.hpp"

namespace ooc {

namespace {

void require_readable_again(const Source& source) {
  detail::SourceAccess::require_unread(source);
  if (!source.is_produced()) return;
  throw Error(ErrorKind::usage, source.name() + ": cannot stay on the device",
              {.why = "it is read once, so there is no pass after the first",
               .hint = "write it to a file first"});
}

}  // namespace

Resident::Resident(Coordinator& coordinator, const std::vector<const Source*>& sources,
                   ResidentOptions options) {
  for (const Source* source : sources) require_readable_again(*source);
  memory_ = detail::given_memory(sources);
  if (memory_) return;
  memory_ =
      std::make_shared<detail::ResidentMemory>(coordinator.device(), sources, options.device_bytes);
}

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
