#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ooc/coordinator.hpp>
#include <ooc/device.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/limit.hpp"
#include "measure/kernel.hpp"

namespace ooc_run {

/// What measuring will read, all rounds together, about (bytes).
struct BenchReads {
  double from_disk = 0, from_page_cache = 0;

  double bytes() const { return from_disk + from_page_cache; }
};

/// What to measure.
struct BenchJob {
  std::string path;
  ooc::DeviceKind device = ooc::DeviceKind::cpu;
  int ordinal = 0;
  double choice_seconds = 0;  // that looking for a GPU took, which begins its start
  std::size_t runs = 5;
  bool sweep = false;
  std::stop_token stop{};

  // Bytes moved, about: nothing before anything is measured, and then after each measurement.
  std::function<void(double done, const BenchReads& all)> progress{};
};

/// A rate by one or two settings (bytes, threads or a number), a figure a round.
struct RateRow {
  std::size_t setting = 0;
  std::size_t depth = 0;  // reads in flight, of a disk
  std::vector<double> bytes_per_second{};
};

/// A ceiling: its best setting's median. Or why there is none.
struct CeilingRows {
  std::string skipped{};
  std::vector<RateRow> rows{};
  std::size_t best = 0;  // of the rows
  double bytes_per_second() const;
};

/// One way to take the file through the operator, histogram u1.
struct PassRow {
  std::string name;
  bool cold = false;
  std::string skipped{};
  std::uint64_t bytes = 0;
  std::size_t chunk_bytes = 0;
  std::string engine{};
  bool direct = false;
  std::optional<double> cached_before{}, cached_after{};  // the worst of all rounds
  std::vector<double> seconds{}, cpu_seconds{};           // a figure a round
  std::optional<Limit> limit{};
  double bytes_per_second() const;  // by the median
};

/// The pipeline's rate by one of its sizes.
struct SweepRow {
  std::string_view what;  // "chunk", "in_flight" or "file"
  bool cold = false;
  std::uint64_t setting_bytes = 0;
  std::vector<double> bytes_per_second{};
};

struct Startup {
  double device_seconds = 0;       // until it was usable
  double pool_seconds = 0;         // for memory as large as the pipeline's pool
  double first_chunk_seconds = 0;  // of the first pass, the pool apart

  double seconds() const { return device_seconds + pool_seconds + first_chunk_seconds; }
};

/// What was measured, on a machine that did nothing else.
struct BenchResult {
  std::string device;
  ooc::DeviceKind kind = ooc::DeviceKind::cpu;
  std::size_t cores = 0;
  std::size_t runs = 0;
  std::uint64_t part_bytes = 0;  // of the file, that each setting of the disk read
  std::uint64_t warm_bytes = 0;  // of the file, that lay in the page cache
  CeilingRows disk, page_cache, h2d, d2h;
  std::array<CeilingRows, ooc::all_kernels.size()> kernels;
  std::vector<PassRow> passes;
  Startup startup;
  std::vector<SweepRow> sweep;

  const CeilingRows& kernel(ooc::KernelKind which) const {
    return kernels[static_cast<std::size_t>(which)];
  }
};

/// What run_measurements() will do, as far as that is known without measuring anything.
struct BenchOutline {
  std::uint64_t file_bytes = 0;
  std::uint64_t warm_bytes = 0;  // of the file, that will be kept in the page cache
  std::uint64_t part_bytes = 0;  // of the file, that each setting of the disk will read
  std::size_t disk_settings = 0;
  bool in_memory = false;                     // the file has no disk under it
  std::string why_no_disk{}, why_not_cold{};  // empty: as far as is known
  BenchReads reads{};
};

/// Reads nothing, and leaves the page cache as it is. Throws Error as run_measurements() would.
BenchOutline outline_measurements(const BenchJob& job);

/// Measures in rounds, each of which does everything once, so that all see the same moods of the
/// machine. Throws Error: as a pass, `interrupted` if stopped, `bad_input` for an empty file.
BenchResult run_measurements(const BenchJob& job);

}  // namespace ooc_run
