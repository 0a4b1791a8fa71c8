#include "bench/sweep.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <ooc/detail/base/units.hpp>

namespace ooc_run {
namespace {

using ooc::detail::KiB;
using ooc::detail::MiB;

constexpr std::array<std::uint64_t, 8> chunks{256 * KiB, 512 * KiB, 1 * MiB,  2 * MiB,
                                              4 * MiB,   8 * MiB,   16 * MiB, 64 * MiB};
constexpr std::array<std::uint64_t, 8> in_flight{1 * MiB,  2 * MiB,  4 * MiB,  8 * MiB,
                                                 12 * MiB, 16 * MiB, 32 * MiB, 64 * MiB};
constexpr std::uint64_t smallest_file = 1 * MiB;
constexpr std::uint64_t file_growth = 4;  // ratio of successive sizes

// Settings other than the size of the file are measured on a part of it, at most this large.
constexpr std::uint64_t most_part_bytes = 2 * ooc::detail::GiB;

}  // namespace

Sweep::Sweep(const BenchJob& job, PageCache& cache, std::uint64_t warm_bytes)
    : job_(job), cache_(cache), warm_(trials(false, warm_bytes)) {
  if (cache.why_not_cold().empty()) cold_ = trials(true, cache.file().size());
}

BenchReads Sweep::reads(const BenchJob& job, std::uint64_t warm_bytes,
                        std::optional<std::uint64_t> cold_bytes) {
  const auto bytes_of = [&](bool cold, std::uint64_t all_bytes) {
    double bytes = 0;
    for (const Trial& trial : trials(cold, all_bytes)) {
      bytes += static_cast<double>(trial.bytes);
    }
    return bytes * static_cast<double>(rounds(job));
  };
  return {cold_bytes ? bytes_of(true, *cold_bytes) : 0, bytes_of(false, warm_bytes)};
}

std::vector<SweepRow> Sweep::run(const Moved& moved) {
  cache_.warm();
  std::vector<SweepRow> rows;
  measure(warm_, moved, rows);
  measure(cold_, moved, rows);
  return rows;
}

/// Cold trials of different settings read different parts: the host of a virtual disk may cache
/// data.
std::vector<Sweep::Trial> Sweep::trials(bool cold, std::uint64_t all_bytes) {
  std::vector<Trial> trials;
  ooc::Options options;
  const std::uint64_t parts = cold ? chunks.size() : 1;
  const std::uint64_t part = std::min(
      most_part_bytes, ooc::detail::round_down(all_bytes / parts, ooc::detail::page_bytes));
  if (part != 0) add_settings(cold, part, options, trials);
  const auto add_file = [&](std::uint64_t size) {
    trials.push_back({{"file", cold, size}, options, 0, size});
  };
  for (std::uint64_t size = smallest_file; size < all_bytes; size *= file_growth) add_file(size);
  add_file(all_bytes);
  return trials;
}

void Sweep::add_settings(bool cold, std::uint64_t part, const ooc::Options& options,
                         std::vector<Trial>& trials) {
  const auto begin = [&](std::size_t i) { return cold ? i * part : 0; };
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    trials.push_back({{"chunk", cold, chunks[i]}, options, begin(i), part});
    trials.back().options.chunk_bytes = chunks[i];
  }
  for (std::size_t i = 0; i < in_flight.size(); ++i) {
    trials.push_back({{"in_flight", cold, in_flight[i]}, options, begin(i), part});
    ooc::Options& with = trials.back().options;
    with.block_bytes = std::min<std::size_t>(in_flight[i], 1 * MiB);
    with.queue_depth = in_flight[i] / with.block_bytes;
  }
}

/// Measures all settings in rounds. The first round only allocates pools and is not recorded.
void Sweep::measure(std::vector<Trial>& trials, const Moved& moved, std::vector<SweepRow>& rows) {
  std::vector<std::unique_ptr<ooc::Coordinator>> coordinators;
  for (const Trial& trial : trials) {
    coordinators.push_back(std::make_unique<ooc::Coordinator>(
        ooc::make_device(job_.device, job_.ordinal), trial.options));
  }
  for (std::size_t round = 0; round < rounds(job_); ++round) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      Trial& trial = trials[i];
      check_stop(job_.stop);
      if (trial.row.cold) cache_.evict();
      const ooc::Source source = part_of_file(job_.path, trial.begin, trial.bytes);
      const ooc::Stats stats = measure_pass(*coordinators[i], source, job_.stop).stats;
      moved(trial.bytes);
      if (round == 0) continue;
      trial.row.bytes_per_second.push_back(static_cast<double>(stats.outcome.bytes) /
                                           stats.timing.seconds);
    }
  }
  for (Trial& trial : trials) rows.push_back(std::move(trial.row));
}

}  // namespace ooc_run
