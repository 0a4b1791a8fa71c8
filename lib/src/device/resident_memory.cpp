#include "device/resident_memory.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/resident.hpp>

#include <algorithm>
#include <new>

namespace ooc::detail {

ResidentMemory::ResidentMemory(Device& device, const Source& source, std::uint64_t most_bytes)
    : device_(device),
      source_(source),
      most_bytes_(most_bytes),
      may_take_(!source.is_empty() && (most_bytes != 0 || !device.reads_host_memory())) {}

void ResidentMemory::reserve(std::uint64_t needed_bytes) {
  if (memory_.size() != 0) return;
  std::uint64_t free = device_.device_memory().bytes_left();
  // A pool of the program's own may have memory that is not free on the GPU.
  if (most_bytes_ == 0) free = std::min(free, device_.available_bytes());
  std::uint64_t wanted = std::min(source_.bytes(), room_for_resident(free, needed_bytes));
  if (most_bytes_ != 0) wanted = std::min(wanted, most_bytes_);
  const std::uint64_t least = std::clamp<std::uint64_t>(wanted, 1, 1 * MiB);
  // Free memory may be in several pieces, and other programs may take it meanwhile.
  for (; wanted >= least; wanted /= 2) {
    try {
      memory_ = Buffer(device_.device_memory(), wanted);
      return;
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
    }
  }
}

void ResidentMemory::require_on(const Device& device) const {
  if (&device == &device_) return;
  throw Error(ErrorKind::usage, source_.name() + ": is kept on the device of another coordinator",
              {.why = "a Resident is used by the coordinator that it was made for"});
}

std::byte* ResidentMemory::place(std::uint64_t first, std::uint64_t bytes) const noexcept {
  const std::uint64_t end = held_ != 0 ? held_ : memory_.size();
  return first + bytes <= end ? memory_.data() + first : nullptr;
}

void ResidentMemory::hold(std::uint64_t bytes, std::uint64_t step_bytes) noexcept {
  const std::uint64_t places = memory_.size();
  held_ = bytes <= places ? bytes : round_down(places, step_bytes);
  if (held_ == 0) memory_ = Buffer();
}

bool ResidentMemory::release() noexcept {
  may_take_ = false;
  held_ = 0;
  const bool had_memory = memory_.size() != 0;
  memory_ = Buffer();
  return had_memory;
}

}  // namespace ooc::detail
