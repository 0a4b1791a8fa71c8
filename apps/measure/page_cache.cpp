#include "measure/page_cache.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include "measure/figures.hpp"
#include "measure/run_parallel.hpp"

namespace ooc::detail::measure {

namespace {

constexpr std::size_t block_bytes = 1 * MiB;  // as in a warm pass; fits the cache of a core

/// Reads all blocks on `threads` threads and discards the data. Each thread takes the next block
/// not yet taken.
void read_blocks(const File& file, std::uint64_t bytes, std::size_t threads) {
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  run_parallel(threads, [&](std::size_t) {
    std::vector<std::byte> memory(block_bytes);
    for (;;) {
      const std::uint64_t begin = next.fetch_add(block_bytes);
      if (begin >= bytes || failed) return;
      const std::size_t wanted = std::min<std::uint64_t>(block_bytes, bytes - begin);
      const DiskCall waits;
      const ssize_t got = repeat_interrupted(
          [&] { return pread(file.buffered(), memory.data(), wanted, static_cast<off_t>(begin)); });
      if (got < 0) {
        failed = true;
        throw read_error(file, begin, errno);
      }
    }
  });
}

}  // namespace

void evict(const File& file) {
  // Dirty pages are not evicted, so write them to the disk first.
  if (fdatasync(file.buffered()) != 0) {
    throw Error::from_errno(ErrorKind::input, "sync", errno, file.path());
  }
  const int failed = posix_fadvise(file.buffered(), 0, 0, POSIX_FADV_DONTNEED);
  if (failed != 0) throw Error::from_errno(ErrorKind::input, "evict", failed, file.path());
}

void warm(const File& file, std::uint64_t bytes, std::size_t threads) {
  // Read twice: at the second access the kernel moves a page to its list of active pages, under a
  // lock that all threads share. This must not be part of a measured run.
  for (int reading = 0; reading < 2; ++reading) read_blocks(file, bytes, threads);
}

PageCacheCopies::PageCacheCopies(const File& file, std::uint64_t bytes)
    : file_(file), bytes_(bytes) {
  const std::size_t cores = usable_cores();
  for (std::size_t threads = 1; threads < cores; threads *= 2) rows_.push_back({threads});
  rows_.push_back({cores});
}

void PageCacheCopies::round() {
  for (Row& row : rows_) {
    const Clock clock;
    read_blocks(file_, bytes_, row.threads);
    row.bytes_per_second.push_back(static_cast<double>(bytes_) / clock.seconds());
  }
}

const PageCacheCopies::Row& PageCacheCopies::best() const {
  return *std::ranges::max_element(
      rows_, {}, [](const Row& row) { return spread_of(row.bytes_per_second).median; });
}

}  // namespace ooc::detail::measure
