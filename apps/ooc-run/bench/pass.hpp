#pragma once

#include <cstdint>
#include <memory>
#include <ooc/coordinator.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <string>

#include "bench/run.hpp"

namespace ooc_run {

/// Opens a part of a file as a dataset of u1, whatever its contents.
ooc::Source part_of_file(const std::string& path, std::uint64_t begin, std::uint64_t bytes);

/// The reason why a file on tmpfs cannot be read from a disk.
inline constexpr const char* in_memory = "the file lies in memory (tmpfs)";

/// Loads a file into the page cache and evicts it.
class PageCache {
 public:
  /// Tries to evict the file. `warm_bytes`: how much of it warm() loads.
  PageCache(const std::string& path, std::uint64_t warm_bytes);

  /// Returns why a cold run is impossible; empty if it is possible.
  const std::string& why_not_cold() const noexcept { return why_not_cold_; }

  void evict();
  void warm();

  const ooc::detail::File& file() const noexcept { return file_; }

 private:
  ooc::detail::File file_;
  std::uint64_t warm_bytes_;
  std::string why_not_cold_;
};

/// The result of one pass of histogram u1. measure_pass() throws Error(interrupted) if stopped.
struct MeasuredPass {
  ooc::Stats stats;
  double cpu_seconds;
};
MeasuredPass measure_pass(ooc::Coordinator& coordinator, const ooc::Source& source,
                          const std::stop_token& stop);

/// Throws Error(interrupted) if a stop was requested.
void check_stop(const std::stop_token& stop);

}  // namespace ooc_run
