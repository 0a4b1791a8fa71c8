#pragma once

#include <cstdint>
#include <functional>
#include <ooc/coordinator.hpp>
#include <optional>
#include <vector>

#include "bench/pass.hpp"
#include "bench/run.hpp"

namespace ooc_run {

/// Measures the pipeline with several sizes of chunks, bytes in flight and sizes of the file.
class Sweep {
 public:
  /// `job` and `cache` must outlive the sweep.
  Sweep(const BenchJob& job, PageCache& cache, std::uint64_t warm_bytes);

  /// Returns the bytes that all passes read. `cold_bytes`: empty if cold passes are not possible.
  static BenchReads reads(const BenchJob& job, std::uint64_t warm_bytes,
                          std::optional<std::uint64_t> cold_bytes);

  /// Calls `moved` with the bytes of each pass. Throws Error as measure_pass() does.
  using Moved = std::function<void(std::uint64_t)>;
  std::vector<SweepRow> run(const Moved& moved);

 private:
  /// A row of the table, with its options and the part of the file that it reads.
  struct Trial {
    SweepRow row;
    ooc::Options options;
    std::uint64_t begin, bytes;
  };

  static std::size_t rounds(const BenchJob& job) { return job.runs + 1; }
  static std::vector<Trial> trials(bool cold, std::uint64_t all_bytes);
  static void add_settings(bool cold, std::uint64_t part, const ooc::Options& options,
                           std::vector<Trial>& trials);
  void measure(std::vector<Trial>& trials, const Moved& moved, std::vector<SweepRow>& rows);

  const BenchJob& job_;
  PageCache& cache_;
  std::vector<Trial> warm_, cold_;
};

}  // namespace ooc_run
