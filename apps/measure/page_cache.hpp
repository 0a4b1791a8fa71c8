#pragma once

#include <ooc/detail/file/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc::detail::measure {

/// Asks the kernel to evict a file from the page cache; it may keep some pages. Throws
/// Error(input).
void evict(const File& file);

/// Loads the first `bytes` of a file into the page cache on several threads. Throws Error(input).
void warm(const File& file, std::uint64_t bytes, std::size_t threads);

/// Measures how fast threads copy out of the page cache, each into its own buffer that stays in the
/// cache of its core. This is the ceiling of a warm run.
class PageCacheCopies {
 public:
  /// Measures with 1, 2, 4, ... threads and with one per core. The first `bytes` of the file must
  /// be in the page cache. The file must outlive this.
  PageCacheCopies(const File& file, std::uint64_t bytes);

  void round();

  struct Row {
    std::size_t threads;
    std::vector<double> bytes_per_second{};  // one figure per round
  };
  std::span<const Row> rows() const noexcept { return rows_; }
  const Row& best() const;  // highest median

 private:
  const File& file_;
  std::uint64_t bytes_;
  std::vector<Row> rows_;
};

}  // namespace ooc::detail::measure
