#include "device/memory.hpp"

#include <ooc/detail/base/text_file.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/control_groups.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace ooc {

using namespace detail;

namespace {

constexpr std::size_t huge_page_bytes = 2 * MiB;
constexpr std::size_t block_alignment = 256;

/// Returns the number at the start of a file; empty if there is none.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::istringstream file(read_text(path));
  std::uint64_t number = 0;
  if (file >> number) return number;
  return {};
}

std::uint64_t system_available_bytes() {
  std::istringstream file(read_text("/proc/meminfo"));
  std::string key;
  std::uint64_t kilobytes = 0;
  for (std::string rest; file >> key >> kilobytes; std::getline(file, rest)) {
    if (key == "MemAvailable:") return kilobytes * KiB;
  }
  return GiB;  // without /proc/meminfo, a conservative guess
}

/// Returns the bytes of page cache in a group that the kernel frees when memory is needed.
std::uint64_t reclaimable_bytes(const ControlGroup& group) {
  const std::string prefix = group.is_version_2 ? "" : "total_";  // includes nested groups
  const std::string inactive = prefix + "inactive_file", active = prefix + "active_file";
  std::istringstream file(read_text(group.directory + "/memory.stat"));
  std::uint64_t sum = 0;
  std::string key;
  for (std::uint64_t bytes = 0; file >> key >> bytes;) {
    if (key == inactive || key == active) sum += bytes;
  }
  return sum;
}

/// Returns the bytes left below a group's limit; the largest number if it has none.
std::uint64_t room_in(const ControlGroup& group) {
  const bool is_new = group.is_version_2;
  const std::string directory = group.directory + "/";
  const auto limit = number_in(directory + (is_new ? "memory.max" : "memory.limit_in_bytes"));
  const auto used = number_in(directory + (is_new ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !used) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t needed = *used - std::min(*used, reclaimable_bytes(group));
  return *limit - std::min(*limit, needed);
}

}  // namespace

std::uint64_t available_host_bytes() {
  std::uint64_t available = system_available_bytes();
  for (const ControlGroup& group : groups_that_limit("memory")) {
    available = std::min(available, room_in(group));
  }
  return available;
}

MeteredMemory::MeteredMemory(MemoryResource& upstream, std::string what)
    : upstream_(upstream), what_(std::move(what)) {}

void* MeteredMemory::allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t in_use = in_use_.fetch_add(bytes) + bytes;
  if (in_use > limit_) {
    in_use_ -= bytes;
    const bool is_of_host = what_ == "host memory";
    throw Error(ErrorKind::memory,
                std::to_string(bytes) + " more bytes of " + what_ + " are needed, but " +
                    std::to_string(in_use - bytes) + " of the " + std::to_string(limit_) +
                    " allowed are in use",
                {.remedies = {{RemedyAction::raise,
                               is_of_host ? "Options::memory_bytes" : "Options::device_bytes",
                               std::to_string(in_use)},
                              {RemedyAction::lower, "Options::chunk_bytes"},
                              {RemedyAction::lower, "Options::streams"}}});
  }
  void* data = nullptr;
  try {
    data = upstream_.allocate(bytes, alignment);
  } catch (...) {
    in_use_ -= bytes;
    throw;
  }
  std::size_t peak = peak_;
  while (peak < in_use && !peak_.compare_exchange_weak(peak, in_use)) {
  }
  ++allocations_;
  return data;
}

void MeteredMemory::deallocate(void* data, std::size_t bytes, std::size_t alignment) {
  upstream_.deallocate(data, bytes, alignment);
  in_use_ -= bytes;
}

void* HugePageMemory::allocate(std::size_t bytes, std::size_t /*alignment*/) {
  // mmap() aligns to 4 KiB only: map one more huge page and unmap both ends.
  const std::size_t wanted = round_up(std::max<std::size_t>(bytes, 1), huge_page_bytes);
  const std::size_t mapped = wanted + huge_page_bytes;
  void* const map =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    throw Error::from_errno(ErrorKind::memory,
                            "mapping " + std::to_string(mapped) + " bytes of memory", errno);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(map);
  const auto aligned = round_up(begin, huge_page_bytes);
  const std::size_t head = aligned - begin;
  if (head != 0) munmap(map, head);
  void* const data = reinterpret_cast<void*>(aligned);
  munmap(static_cast<std::byte*>(data) + wanted, huge_page_bytes - head);
  madvise(data, wanted, MADV_HUGEPAGE);  // optional: memory without huge pages works too
  return data;
}

void HugePageMemory::deallocate(void* data, std::size_t bytes, std::size_t /*alignment*/) {
  munmap(data, round_up(std::max<std::size_t>(bytes, 1), huge_page_bytes));
}

RecyclingMemory::RecyclingMemory(MemoryResource& upstream) : upstream_(upstream) {}

RecyclingMemory::~RecyclingMemory() {
  for (const Block& block : blocks_) {
    upstream_.deallocate(block.data, block.bytes, block_alignment);
  }
}

void* RecyclingMemory::allocate(std::size_t bytes, std::size_t /*alignment*/) {
  const auto fits = std::ranges::find_if(
      blocks_, [&](const Block& block) { return block.free && block.bytes >= bytes; });
  if (fits != blocks_.end()) {
    fits->free = false;
    return fits->data;
  }
  const std::size_t rounded = round_up(std::max<std::size_t>(bytes, 1), block_alignment);
  blocks_.reserve(blocks_.size() + 1);  // push_back() must not throw and leak the block
  blocks_.push_back({upstream_.allocate(rounded, block_alignment), rounded, false});
  return blocks_.back().data;
}

void RecyclingMemory::deallocate(void* data, std::size_t /*bytes*/, std::size_t /*alignment*/) {
  std::ranges::find(blocks_, data, &Block::data)->free = true;
}

}  // namespace ooc
