#pragma once

#include <cstdint>
#include <memory>
#include <ooc/coordinator.hpp>
#include <ooc/io/file.hpp>
#include <ooc/io/source.hpp>
#include <optional>
#include <string>

#include "bench/run.hpp"

namespace ooc_run {

/// The bytes of a part of a file as a dataset, whatever they mean.
ooc::Source part_of_file(const std::string& path, std::uint64_t begin, std::uint64_t bytes);

/// Why a file cannot be read from a disk.
inline constexpr const char* in_memory = "the file lies in memory (tmpfs)";

/// Puts a file in and out of the page cache.
class PageCache {
 public:
  /// Tries whether the file can be taken out. `warm_bytes`: how much of it is to lie there.
  PageCache(const std::string& path, std::uint64_t warm_bytes);

  /// Why there can be no cold run, or empty.
  const std::string& why_not_cold() const noexcept { return why_not_cold_; }

  void evict();
  void warm();

  const ooc::File& file() const noexcept { return file_; }

 private:
  ooc::File file_;
  std::uint64_t warm_bytes_;
  std::string why_not_cold_;
};

/// One pass of histogram u1 and what it cost. Throws Error(interrupted) if it was stopped.
struct MeasuredPass {
  ooc::Stats stats;
  double cpu_seconds;
};
MeasuredPass measure_pass(ooc::Coordinator& coordinator, const ooc::Source& source,
                          const std::stop_token& stop);

/// Throws Error(interrupted) if somebody asks for that.
void check_stop(const std::stop_token& stop);

}  // namespace ooc_run
