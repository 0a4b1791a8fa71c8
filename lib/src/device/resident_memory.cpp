#include "device/resident_memory.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/device/resident_room.hpp>
#include <ooc/error.hpp>
#include <ooc/resident.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <new>
#include <utility>

namespace ooc::detail {

namespace {

constexpr std::uint64_t place_alignment = 256;

}  // namespace

ResidentMemory::ResidentMemory(Device& device, const std::vector<const Source*>& sources,
                               std::uint64_t most_bytes)
    : device_(&device), most_bytes_(most_bytes) {
  for (const Source* source : sources) parts_.push_back({source});
  may_take_ = source_bytes() != 0 && (most_bytes != 0 || !device.reads_host_memory());
}

ResidentMemory::ResidentMemory(const std::vector<const Source*>& sources) {
  for (const Source* source : sources) {
    const std::span<const std::byte> memory = SourceAccess::device_memory(*source);
    // Operators get it as memory that they do not write to.
    parts_.push_back({.source = source,
                      .places = memory.size(),
                      .given = const_cast<std::byte*>(memory.data()),
                      .held = memory.size()});
  }
}

std::uint64_t ResidentMemory::source_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const PartialResult& part : parts_) sum += part.source->bytes();
  return sum;
}

std::uint64_t ResidentMemory::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const PartialResult& part : parts_) sum += part.held;
  return sum;
}

std::uint64_t ResidentMemory::records(std::span<const RecordShape> shapes) const noexcept {
  std::uint64_t records = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    records = std::min(records, parts_[i].held / shapes[i].bytes);
  }
  return records;
}

/// Gives each source its share of `bytes` bytes. Returns the size of the memory that these take.
std::uint64_t ResidentMemory::divide(std::uint64_t bytes) noexcept {
  const std::uint64_t all = source_bytes();
  std::uint64_t end = 0;
  for (PartialResult& part : parts_) {
    part.begin = end;
    part.places = static_cast<std::uint64_t>(static_cast<unsigned __int128>(bytes) *
                                             part.source->bytes() / all);
    end += round_up(part.places, place_alignment);
  }
  return end;
}

void ResidentMemory::reserve(std::uint64_t needed_bytes) {
  // Owners of memory that holds nothing yet may still read what a pass had put there.
  if (memory_ && (bytes() != 0 || memory_.use_count() == 1)) return;
  memory_.reset();
  std::uint64_t free = device_->device_memory().bytes_left();
  // A pool of the program's own may have memory that is not free on the GPU.
  if (most_bytes_ == 0) free = std::min(free, device_->available_bytes());
  std::uint64_t wanted = std::min(source_bytes(), room_for_resident(free, needed_bytes));
  if (most_bytes_ != 0) wanted = std::min(wanted, most_bytes_);
  const std::uint64_t least = std::clamp<std::uint64_t>(wanted, 1, 1 * MiB);
  // Free memory may be in several pieces, and other programs may take it meanwhile.
  for (; wanted >= least; wanted /= 2) {
    try {
      memory_ = std::make_shared<Buffer>(device_->device_memory(), divide(wanted));
      return;
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
    }
  }
}

void ResidentMemory::require_on(Device& device, bool is_bound) const {
  if (is_given()) {
    const auto is_there = [&](const PartialResult& part) {
      return device.kind() == DeviceKind::cuda && (!is_bound || device.owns(part.given));
    };
    const auto other = std::ranges::find_if_not(parts_, is_there);
    if (other == parts_.end()) return;
    throw Error(ErrorKind::usage, other->source->name() + ": is not in the memory of this device",
                {.why = "a pass runs where the array is",
                 .hint = "make the coordinator for that GPU, or copy the array to the host"});
  }
  if (&device == device_) return;
  throw Error(ErrorKind::usage,
              parts_.front().source->name() + ": is kept on the device of another coordinator",
              {.why = "a Resident is used by the coordinator that it was made for"});
}

void ResidentMemory::require_alignment(std::size_t source, std::size_t alignment) const {
  const PartialResult& part = parts_[source];
  if (reinterpret_cast<std::uintptr_t>(part.given) % alignment == 0) return;
  throw Error(ErrorKind::usage,
              part.source->name() + ": does not begin at a multiple of " +
                  std::to_string(alignment) + " bytes",
              {.why = "the operator reads its records where they are", .hint = "copy the array"});
}

std::byte* ResidentMemory::place(std::size_t source, std::uint64_t first,
                                 std::uint64_t bytes) const noexcept {
  const PartialResult& part = parts_[source];
  if (part.given != nullptr) return part.given + first;
  if (!memory_) return nullptr;
  const std::uint64_t end = this->bytes() != 0 ? part.held : part.places;
  return first + bytes <= end ? memory_->data() + part.begin + first : nullptr;
}

void ResidentMemory::hold(std::uint64_t records, std::uint64_t step_records,
                          std::span<const RecordShape> shapes) noexcept {
  std::uint64_t places = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    places = std::min(places, !memory_ ? 0 : parts_[i].places / shapes[i].bytes);
  }
  const std::uint64_t held = records <= places ? records : round_down(places, step_records);
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].held = held * shapes[i].bytes;
  if (held == 0) memory_.reset();
}

std::shared_ptr<const void> ResidentMemory::owner_of(const void* address) const noexcept {
  if (!memory_) return nullptr;
  const auto* const at = static_cast<const std::byte*>(address);
  const std::less_equal<const std::byte*> before{};
  const bool is_in = before(memory_->data(), at) && !before(memory_->data() + memory_->size(), at);
  return is_in ? memory_ : nullptr;
}

bool ResidentMemory::release() noexcept {
  if (is_given()) return false;
  may_take_ = false;
  for (PartialResult& part : parts_) part.held = 0;
  return std::exchange(memory_, nullptr) != nullptr;
}

std::shared_ptr<ResidentMemory> given_memory(const std::vector<const Source*>& sources) {
  const auto is_given = [](const Source* source) {
    return SourceAccess::device_memory(*source).data() != nullptr;
  };
  const auto count = std::ranges::count_if(sources, is_given);
  if (count == 0) return nullptr;
  if (static_cast<std::size_t>(count) == sources.size()) {
    return std::make_shared<ResidentMemory>(sources);
  }
  throw Error(ErrorKind::usage,
              (*std::ranges::find_if(sources, is_given))->name() +
                  ": is on a GPU, and other inputs are not",
              {.why = "a pass reads all of its inputs in one place",
               .hint = "copy the smaller ones to where the others are"});
}

std::shared_ptr<ResidentMemory> kept_memory(Device& device,
                                            const std::vector<const Source*>& sources,
                                            std::uint64_t device_bytes) {
  for (const Source* const source : sources) {
    SourceAccess::require_unread(*source);
    if (!source->is_produced()) continue;
    throw Error(ErrorKind::usage, source->name() + ": cannot stay on the device",
                {.why = "it is read once, so there is no pass after the first",
                 .hint = "write it to a file first"});
  }
  if (auto memory = given_memory(sources)) return memory;
  return std::make_shared<ResidentMemory>(device, sources, device_bytes);
}

ResidentMemory* resident_memory_of(std::span<const PassInput> inputs) {
  if (inputs.empty()) return nullptr;
  ResidentMemory* const memory = inputs.front().resident.get();
  const bool is_of_all = std::ranges::all_of(
      inputs, [&](const PassInput& input) { return input.resident.get() == memory; });
  return is_of_all ? memory : nullptr;
}

}  // namespace ooc::detail
