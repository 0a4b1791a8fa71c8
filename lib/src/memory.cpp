#include "memory.hpp"

#include <ooc/device.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/text_file.hpp>
#include <ooc/io/units.hpp>
#include <ooc/metered_memory.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace ooc {

namespace {

constexpr std::size_t huge_page_bytes = 2 * MiB;
constexpr std::size_t block_alignment = 256;

/// A file that holds one number, or nothing of use.
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
  return GiB;  // there is no such file; a modest guess
}

/// What the files of a control group are called.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* inactive;  // page cache that goes when memory is needed, in memory.stat
  const char* active;
};

constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file", "total_active_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file", "active_file"};

std::uint64_t reclaimable_bytes(const std::string& group, const GroupFiles& files) {
  std::istringstream file(read_text(group + "/memory.stat"));
  std::uint64_t sum = 0;
  std::string key;
  for (std::uint64_t bytes = 0; file >> key >> bytes;) {
    if (key == files.inactive || key == files.active) sum += bytes;
  }
  return sum;
}

/// What the group and those around it leave; unlimited if none of them has a limit. A container
/// may see its own group at the root, where the path that it is told does not exist.
///
/// With strings: libstdc++ 12 corrupts the heap if memory runs out in `path("a/") / "b"`.
std::uint64_t room_in_groups(const std::string& root, const std::string& path,
                             const GroupFiles& files) {
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t end = path.size(); end != std::string::npos; end = path.rfind('/', end - 1)) {
    const std::string group = root + path.substr(0, end);
    const auto limit = number_in(group + "/" + files.limit);
    const auto used = number_in(group + "/" + files.used);
    if (limit && used) {
      const std::uint64_t needed = *used - std::min(*used, reclaimable_bytes(group, files));
      room = std::min(room, *limit - std::min(*limit, needed));
    }
    if (end == 0) break;
  }
  return room;
}

}  // namespace

std::uint64_t available_host_bytes() {
  std::uint64_t available = system_available_bytes();
  std::istringstream groups(read_text("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" is version 2, "7:memory,cpu:/path" the memory controller of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      available = std::min(available, room_in_groups("/sys/fs/cgroup", path, version_2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      available = std::min(available, room_in_groups("/sys/fs/cgroup/memory", path, version_1));
    }
  }
  return available;
}

MeteredMemory::MeteredMemory(std::pmr::memory_resource& upstream, std::string what)
    : upstream_(upstream), what_(std::move(what)) {}

void* MeteredMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t in_use = in_use_.fetch_add(bytes) + bytes;
  if (in_use > limit_) {
    in_use_ -= bytes;
    throw Error(Cause::memory,
                std::to_string(bytes) + " more bytes of " + what_ + " are needed, but " +
                    std::to_string(in_use - bytes) + " of the " + std::to_string(limit_) +
                    " allowed are in use",
                {.hint = "raise the limit (--memory, --vram), or lower --chunk or --streams"});
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

void MeteredMemory::do_deallocate(void* data, std::size_t bytes, std::size_t alignment) {
  upstream_.deallocate(data, bytes, alignment);
  in_use_ -= bytes;
}

void* HugePageMemory::do_allocate(std::size_t bytes, std::size_t /*alignment*/) {
  // mmap aligns to 4 KiB only: map one huge page more and give both ends back.
  const std::size_t wanted = round_up(std::max<std::size_t>(bytes, 1), huge_page_bytes);
  const std::size_t mapped = wanted + huge_page_bytes;
  void* const map =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    throw Error::from_errno(Cause::memory, "mapping " + std::to_string(mapped) + " bytes of memory",
                            errno);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(map);
  const auto aligned = round_up(begin, huge_page_bytes);
  const std::size_t head = aligned - begin;
  if (head != 0) munmap(map, head);
  void* const data = reinterpret_cast<void*>(aligned);
  munmap(static_cast<std::byte*>(data) + wanted, huge_page_bytes - head);
  madvise(data, wanted, MADV_HUGEPAGE);  // a wish: without huge pages it works all the same
  return data;
}

void HugePageMemory::do_deallocate(void* data, std::size_t bytes, std::size_t /*alignment*/) {
  munmap(data, round_up(std::max<std::size_t>(bytes, 1), huge_page_bytes));
}

bool HugePageMemory::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  return dynamic_cast<const HugePageMemory*>(&other) != nullptr;
}

RecyclingMemory::RecyclingMemory(std::pmr::memory_resource& upstream) : upstream_(upstream) {}

RecyclingMemory::~RecyclingMemory() {
  for (const Block& block : blocks_) {
    upstream_.deallocate(block.data, block.bytes, block_alignment);
  }
}

void* RecyclingMemory::do_allocate(std::size_t bytes, std::size_t /*alignment*/) {
  const auto fits = std::ranges::find_if(
      blocks_, [&](const Block& block) { return block.free && block.bytes >= bytes; });
  if (fits != blocks_.end()) {
    fits->free = false;
    return fits->data;
  }
  const std::size_t rounded = round_up(std::max<std::size_t>(bytes, 1), block_alignment);
  blocks_.push_back({upstream_.allocate(rounded, block_alignment), rounded, false});
  return blocks_.back().data;
}

void RecyclingMemory::do_deallocate(void* data, std::size_t /*bytes*/, std::size_t /*alignment*/) {
  std::ranges::find(blocks_, data, &Block::data)->free = true;
}

bool RecyclingMemory::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  return this == &other;
}

}  // namespace ooc
