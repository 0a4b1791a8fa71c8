#pragma once

#include <ooc/io/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc::measure {

/// Asks the kernel to take a file out of the page cache, as far as it will. Throws Error(input).
void evict(const File& file);

/// Reads the first `bytes` of a file through the page cache, by several threads, so that they lie
/// there. Throws Error(input).
void warm(const File& file, std::uint64_t bytes, std::size_t threads);

/// How fast threads copy out of the page cache, each into memory of its own that stays in its
/// core's cache: the ceiling of a warm run.
class PageCacheCopies {
 public:
  /// Of the first `bytes` of the file, which must lie there, by 1, 2, 4, ... threads and as many as
  /// there are cores.
  PageCacheCopies(const File& file, std::uint64_t bytes);

  void round();

  struct Row {
    std::size_t threads;
    std::vector<double> bytes_per_second{};  // a figure a round
  };
  std::span<const Row> rows() const noexcept { return rows_; }
  const Row& best() const;  // by its median

 private:
  const File& file_;
  std::uint64_t bytes_;
  std::vector<Row> rows_;
};

}  // namespace ooc::measure
