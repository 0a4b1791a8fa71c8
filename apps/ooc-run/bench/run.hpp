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

/// Estimated bytes that all measurements read.
struct BenchReads {
  double from_disk = 0, from_page_cache = 0;

  double bytes() const { return from_disk + from_page_cache; }
};

struct BenchJob {
  std::string path;
  ooc::DeviceKind device = ooc::DeviceKind::cpu;
  int ordinal = 0;
  double choice_seconds = 0;  // spent on looking for a GPU; part of its start-up
  std::size_t runs = 5;
  bool sweep = false;
  std::stop_token stop{};

  // Called with the bytes moved so far (estimated): with 0 at the start, then after each
  // measurement.
  std::function<void(double done, const BenchReads& all)> progress{};
};

/// Rates with one setting (bytes or threads), one figure per round.
struct RateRow {
  std::size_t setting = 0;
  std::size_t depth = 0;  // reads in flight (disk only)
  std::vector<double> bytes_per_second{};
};

/// A ceiling: the median of its best setting, or the reason why it was skipped.
struct CeilingRows {
  std::string skipped{};
  std::vector<RateRow> rows{};
  std::size_t best = 0;  // index into rows
  double bytes_per_second() const;
};

/// A kind of pass of histogram u1 over the file, with its figures.
struct PassRow {
  std::string name;
  bool cold = false;
  std::string skipped{};
  std::uint64_t bytes = 0;
  std::size_t chunk_bytes = 0;
  std::string engine{};
  bool direct = false;
  std::optional<double> cached_before{}, cached_after{};  // the worst of all rounds
  std::vector<double> seconds{}, cpu_seconds{};           // one figure per round
  std::optional<RateLimit> limit{};
  double bytes_per_second() const;  // from the median time
};

/// Rates of the pipeline with one setting of the sweep.
struct SweepRow {
  std::string_view what;  // "chunk", "in_flight" or "file"
  bool cold = false;
  std::uint64_t setting_bytes = 0;
  std::vector<double> bytes_per_second{};
};

struct Startup {
  double device_seconds = 0;       // until the device was usable
  double pool_seconds = 0;         // allocation of a pool of the pipeline's size
  double first_chunk_seconds = 0;  // start-up of the first pass, without the pool

  double seconds() const { return device_seconds + pool_seconds + first_chunk_seconds; }
};

struct BenchResult {
  std::string device;
  ooc::DeviceKind kind = ooc::DeviceKind::cpu;
  std::size_t cores = 0;
  std::size_t runs = 0;
  std::uint64_t part_bytes = 0;  // of the file, read by each setting of the disk
  std::uint64_t warm_bytes = 0;  // of the file, kept in the page cache
  CeilingRows disk, page_cache, h2d, d2h;
  std::array<CeilingRows, ooc::detail::all_kernels.size()> kernels;
  std::vector<PassRow> passes;
  Startup startup;
  std::vector<SweepRow> sweep;

  const CeilingRows& kernel(ooc::detail::KernelKind which) const {
    return kernels[static_cast<std::size_t>(which)];
  }
};

/// A plan of run_measurements(), made without measuring anything.
struct BenchOutline {
  std::uint64_t file_bytes = 0;
  std::uint64_t warm_bytes = 0;  // of the file, to be kept in the page cache
  std::uint64_t part_bytes = 0;  // of the file, to be read by each setting of the disk
  std::size_t disk_settings = 0;
  bool in_memory = false;                     // the file is on tmpfs
  std::string why_no_disk{}, why_not_cold{};  // empty if no reason is known
  BenchReads reads{};
};

/// Plans the measurements without reading data or changing the page cache. Throws Error as
/// run_measurements() does.
BenchOutline outline_measurements(const BenchJob& job);

/// Measures in rounds. Each round does everything once, so that noise affects all figures alike.
/// Throws Error: as a pass does, `interrupted` if stopped, `bad_input` for an empty file.
BenchResult run_measurements(const BenchJob& job);

}  // namespace ooc_run
