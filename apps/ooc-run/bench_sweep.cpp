#include <algorithm>
#include <array>
#include <memory>
#include <ooc/io/units.hpp>

#include "bench_pass.hpp"

namespace ooc_run {
namespace {

using ooc::KiB;
using ooc::MiB;

constexpr std::array<std::uint64_t, 8> chunks{256 * KiB, 512 * KiB, 1 * MiB,  2 * MiB,
                                              4 * MiB,   8 * MiB,   16 * MiB, 64 * MiB};
constexpr std::array<std::uint64_t, 8> in_flight{1 * MiB,  2 * MiB,  4 * MiB,  8 * MiB,
                                                 12 * MiB, 16 * MiB, 32 * MiB, 64 * MiB};
constexpr std::uint64_t smallest_file = 1 * MiB;
constexpr std::uint64_t file_growth = 4;  // from one size to the next

// Sizes but for those of the file are tried on a part of it.
constexpr std::uint64_t most_part_bytes = 2 * ooc::GiB;

/// A row of the table, with the options and the part of the file that it stands for.
struct Trial {
  SweepRow row;
  std::unique_ptr<ooc::Coordinator> coordinator;
  std::uint64_t begin, bytes;
};

class Sweep {
 public:
  Sweep(const BenchJob& job, PageCache& cache, std::uint64_t warm_bytes)
      : job_(job), cache_(cache), warm_bytes_(warm_bytes) {}

  std::vector<SweepRow> run() {
    cache_.warm();
    measure(false, warm_bytes_);
    if (cache_.why_not_cold().empty()) measure(true, cache_.file().size());
    return std::move(rows_);
  }

 private:
  ooc::Options options() const {
    ooc::Options options;
    options.stop = job_.stop;
    return options;
  }

  void add(std::string_view what, bool cold, std::uint64_t setting, const ooc::Options& options,
           std::uint64_t begin, std::uint64_t bytes) {
    trials_.push_back(
        {{what, cold, setting},
         std::make_unique<ooc::Coordinator>(ooc::make_device(job_.device, job_.ordinal), options),
         begin,
         bytes});
  }

  /// Rounds of all settings. The first only makes pools.
  void measure(bool cold, std::uint64_t all_bytes) {
    add_trials(cold, all_bytes);
    for (std::size_t i = 0; i <= job_.runs; ++i) {
      for (Trial& trial : trials_) take(trial, i > 0);
    }
    for (Trial& trial : trials_) rows_.push_back(std::move(trial.row));
    trials_.clear();  // with the memory that they hold
  }

  /// Cold, each setting reads a part of its own: the host of a virtual disk may keep what was read.
  void add_trials(bool cold, std::uint64_t all_bytes) {
    const std::uint64_t parts = cold ? chunks.size() : 1;
    const std::uint64_t part =
        std::min(most_part_bytes, ooc::round_down(all_bytes / parts, ooc::page_bytes));
    if (part != 0) add_settings(cold, part);
    std::uint64_t size = smallest_file;
    for (; size < all_bytes; size *= file_growth) add("file", cold, size, options(), 0, size);
    add("file", cold, all_bytes, options(), 0, all_bytes);
  }

  void add_settings(bool cold, std::uint64_t part) {
    const auto begin = [&](std::size_t i) { return cold ? i * part : 0; };
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      ooc::Options with = options();
      with.chunk_bytes = chunks[i];
      add("chunk", cold, chunks[i], with, begin(i), part);
    }
    for (std::size_t i = 0; i < in_flight.size(); ++i) {
      ooc::Options with = options();
      with.block_bytes = std::min<std::size_t>(in_flight[i], 1 * MiB);
      with.queue_depth = in_flight[i] / with.block_bytes;
      add("in_flight", cold, in_flight[i], with, begin(i), part);
    }
  }

  void take(Trial& trial, bool counts) {
    check_stop(job_.stop);
    if (trial.row.cold) cache_.evict();
    const ooc::Source source = part_of_file(job_.path, trial.begin, trial.bytes);
    const ooc::Stats stats = measure_pass(*trial.coordinator, source).stats;
    if (!counts) return;
    trial.row.bytes_per_second.push_back(static_cast<double>(stats.bytes) / stats.seconds);
  }

  const BenchJob& job_;
  PageCache& cache_;
  std::uint64_t warm_bytes_;
  std::vector<Trial> trials_;
  std::vector<SweepRow> rows_;
};

}  // namespace

std::vector<SweepRow> run_sweep(const BenchJob& job, PageCache& cache, std::uint64_t warm_bytes) {
  return Sweep(job, cache, warm_bytes).run();
}

}  // namespace ooc_run
