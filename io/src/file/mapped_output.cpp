#include "file/mapped_output.hpp"

#include "file/file_system.hpp"

#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/base/units.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

namespace ooc::detail {
namespace {

constexpr std::uint64_t piece_bytes = 64 * MiB;  // the allocator can be stopped after each piece
constexpr std::size_t least_unmapped_bytes = 256 * KiB;

}  // namespace

MappedOutput::MappedOutput(int descriptor, std::uint64_t bytes, Purpose purpose)
    : descriptor_(descriptor) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return;
  memory_ = {static_cast<std::byte*>(memory), bytes};
  if (purpose == Purpose::append) return;
  if (purpose == Purpose::join) {
    allocated_ = bytes;  // do not wait: write() populates pages itself
    return;
  }
  try {
    allocator_ = start_thread([this](const std::stop_token& stop) { allocate(stop); });
  } catch (const std::exception&) {
    allocate({});  // no thread, by a limit on threads or memory: allocate now
  }
}

MappedOutput::~MappedOutput() {
  allocator_.request_stop();
  if (allocator_.joinable()) allocator_.join();
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

int MappedOutput::grow(std::uint64_t bytes) {
  if (memory_.empty()) return 0;  // without a mapping, writes allocate
  // No more than twice what it has: of many files, each takes little beyond its data.
  const std::uint64_t has = allocated_;
  const std::uint64_t ample =
      std::min(std::max(bytes, has + std::min(has, piece_bytes)), std::uint64_t{memory_.size()});
  int errno_value = 0;
  for (const std::uint64_t end : {ample, bytes}) {
    const std::uint64_t done = allocated_;
    if (bytes <= done) return 0;
    errno_value = allocate_range(descriptor_, done, end - done);
    if (lacks_fallocate(errno_value)) errno_value = 0;
    if (errno_value == 0) allocated_ = end;
  }
  return errno_value;
}

void MappedOutput::allocate(const std::stop_token& stop) {
  for (std::uint64_t done = 0; done < memory_.size() && !stop.stop_requested();) {
    const std::uint64_t bytes = std::min<std::uint64_t>(piece_bytes, memory_.size() - done);
    const int errno_value = allocate_range(descriptor_, done, bytes);
    if (errno_value != 0 && !lacks_fallocate(errno_value)) errno_ = errno_value;
    done = errno_value == 0 ? done + bytes : memory_.size();
    allocated_ = done;
    allocated_.notify_all();
  }
}

/// pwrite() to tmpfs holds a lock on the whole file: 3 GB/s with any number of threads. Four
/// threads that copy into a mapping reach 6 GB/s if the pages are allocated just ahead of them. The
/// pages are populated explicitly, so that a full file system is an error instead of a SIGBUS. They
/// are unmapped after each write, because unmapping all of them at the end would keep one thread
/// busy for long.
int MappedOutput::write(std::uint64_t offset, std::span<const std::byte> data) noexcept {
  const std::uint64_t end = offset + data.size();
  for (std::uint64_t done = allocated_; done < end; done = allocated_) allocated_.wait(done);
  if (errno_ != 0) return errno_;
  const std::uint64_t begin = round_down(offset, page_bytes);
  std::byte* const pages = memory_.data() + begin;
  if (::madvise(pages, end - begin, MADV_POPULATE_WRITE) != 0) {
    return errno == EFAULT ? ENOSPC : errno;  // EFAULT: accessing a page would raise SIGBUS
  }
  std::memcpy(memory_.data() + offset, data.data(), data.size());
  // MADV_DONTNEED only unmaps the pages; the file keeps the data. It interrupts every processor
  // that runs this process (TLB shootdown), so skip it for small writes.
  if (data.size() >= least_unmapped_bytes) ::madvise(pages, end - begin, MADV_DONTNEED);
  return 0;
}

int MappedOutput::finish() {
  if (allocator_.joinable()) allocator_.join();
  return errno_;
}

}  // namespace ooc::detail
