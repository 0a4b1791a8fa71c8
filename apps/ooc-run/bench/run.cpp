#include "bench/run.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>
#include <utility>

#include "bench/pass.hpp"
#include "bench/sweep.hpp"
#include "machine/environment.hpp"
#include "measure/disk.hpp"
#include "measure/figures.hpp"
#include "measure/kernel.hpp"
#include "measure/link.hpp"
#include "measure/page_cache.hpp"
#include "measure/serial.hpp"

namespace ooc_run {
namespace {

using ooc::detail::GiB;
using ooc::detail::KernelKind;
using ooc::detail::MiB;
using ooc::detail::measure::Clock;

// All disks measured so far were fastest with one of these; ooc-bench tries more.
constexpr std::array disk_blocks{512 * ooc::detail::KiB, 1 * MiB, 2 * MiB};
constexpr std::array disk_in_flight{4 * MiB, 8 * MiB, 32 * MiB};
// The smallest takes as long to launch as to copy; the largest is limited by the link alone.
constexpr std::array link_chunks{1 * MiB, 4 * MiB, 8 * MiB, 16 * MiB, 64 * MiB};
constexpr std::size_t link_bytes = 2 * GiB;  // of one timed copy: about 40 ms
constexpr std::uint64_t cache_copy_bytes = GiB;

double median(const std::vector<double>& figures) {
  return ooc::detail::measure::spread_of(figures).median;
}

/// Returns how much of the file is kept in the page cache: at most half of the available memory.
std::uint64_t warm_part(std::uint64_t file_bytes) {
  const std::uint64_t room = ooc::detail::round_down(ooc::available_host_bytes() / 2, 4 * MiB);
  return std::min(file_bytes, std::max<std::uint64_t>(room, 4 * MiB));
}

std::vector<ooc::detail::measure::DiskSetting> settings_of_disk() {
  return ooc::detail::measure::disk_settings(disk_blocks, disk_in_flight);
}

/// Estimates the bytes read by start-up, by all rounds and by the sweep.
BenchReads reads_of(const BenchJob& job, const BenchOutline& plan) {
  const auto file = static_cast<double>(plan.file_bytes);
  const auto warm = static_cast<double>(plan.warm_bytes);
  const auto runs = static_cast<double>(job.runs);
  const auto parts = static_cast<double>(plan.part_bytes * plan.disk_settings);
  const bool cold = plan.why_not_cold.empty();
  const double warm_passes = job.device == ooc::DeviceKind::cuda ? 3 : 2;
  // The page cache is filled once at the start, and again after each cold pass.
  BenchReads reads;
  reads.from_disk =
      (plan.in_memory ? 0 : warm) + runs * parts + (cold ? file + runs * (file + warm) : 0);
  reads.from_page_cache =
      (plan.in_memory ? 2 : 1) * warm + runs * warm * (warm_passes + (cold ? 0 : 1));
  if (!job.sweep) return reads;
  const BenchReads sweep =
      Sweep::reads(job, plan.warm_bytes, cold ? std::optional(plan.file_bytes) : std::nullopt);
  reads.from_disk += sweep.from_disk;
  reads.from_page_cache += sweep.from_page_cache;
  return reads;
}

/// Returns the size of the file. Throws Error(bad_input) if it is empty.
std::uint64_t size_of_file(const BenchJob& job) {
  const std::uint64_t bytes = ooc::detail::File::open(job.path).size();
  if (bytes != 0) return bytes;
  throw ooc::Error(ooc::ErrorKind::bad_input, job.path + ": is empty",
                   {.hint = "ooc-run gen -o test.bin --size 8G makes a file to measure with"});
}

/// Starts the device and records how long that took.
std::unique_ptr<ooc::Device> start_device(const BenchJob& job, Startup& startup) {
  const Clock clock;
  auto device = ooc::make_device(job.device, job.ordinal);
  device->bind_to_thread();
  startup.device_seconds = job.choice_seconds + clock.seconds();
  return device;
}

/// Makes a coordinator with its own device, so that cold and warm passes each keep their pool.
std::unique_ptr<ooc::Coordinator> make_coordinator(const BenchJob& job) {
  return std::make_unique<ooc::Coordinator>(ooc::make_device(job.device, job.ordinal));
}

CeilingRows best_of(std::vector<RateRow> rows) {
  CeilingRows ceiling{.rows = std::move(rows)};
  const auto best = std::ranges::max_element(
      ceiling.rows, {}, [](const RateRow& row) { return median(row.bytes_per_second); });
  ceiling.best = static_cast<std::size_t>(best - ceiling.rows.begin());
  return ceiling;
}

/// Runs the rounds and collects their figures.
class Bench {
 public:
  explicit Bench(const BenchJob& job)
      : job_(job),
        device_(start_device(job, result_.startup)),
        file_bytes_(ooc::detail::File::open(job.path).size()),
        warm_bytes_(warm_part(file_bytes_)),
        cache_(job.path, warm_bytes_) {
    result_.device = device_->name();
    result_.kind = device_->kind();
    result_.cores = ooc::detail::usable_cores();
    result_.runs = job.runs;
    result_.warm_bytes = warm_bytes_;
  }

  BenchResult run();

 private:
  bool has_link() const { return !device_->reads_host_memory(); }
  void prepare();
  void add_passes();
  void measure_startup();
  void round();
  void cold_round();
  void warm_round();
  void take_pass(PassRow& row, ooc::Coordinator& coordinator, const ooc::Source& source);
  void take_serial(PassRow& row, bool pinned);
  void moved(std::uint64_t bytes);
  void take_ceilings();
  void set_limits();

  const BenchJob& job_;
  BenchResult result_;
  std::unique_ptr<ooc::Device> device_;
  std::uint64_t file_bytes_;
  std::uint64_t warm_bytes_;
  PageCache cache_;
  std::optional<ooc::detail::measure::DiskSweep> disk_;
  std::optional<ooc::detail::measure::PageCacheCopies> copies_;
  std::optional<ooc::detail::measure::LinkSweep> link_;
  std::vector<std::unique_ptr<ooc::detail::measure::KernelAlone>> kernels_;  // one per KernelKind
  std::unique_ptr<ooc::Coordinator> cold_, warm_;
  std::optional<Sweep> sweep_;
  BenchReads reads_;
  double moved_ = 0;
};

void Bench::prepare() {
  const auto settings = settings_of_disk();
  result_.disk.skipped = ooc::detail::measure::DiskSweep::why_not(cache_.file(), settings.size());
  if (result_.disk.skipped.empty()) {
    disk_.emplace(cache_.file(), *device_, settings);
    result_.part_bytes = disk_->part_bytes();
  }
  copies_.emplace(cache_.file(), std::min(warm_bytes_, cache_copy_bytes));
  if (has_link()) link_.emplace(*device_, link_chunks, link_bytes);
  for (const KernelKind kind : ooc::detail::all_kernels) {
    kernels_.push_back(
        std::make_unique<ooc::detail::measure::KernelAlone>(*device_, kind, cache_.file()));
  }
  if (job_.sweep) sweep_.emplace(job_, cache_, warm_bytes_);
  reads_ = reads_of(job_, {.file_bytes = file_bytes_,
                           .warm_bytes = warm_bytes_,
                           .part_bytes = result_.part_bytes,
                           .disk_settings = settings.size(),
                           .why_not_cold = cache_.why_not_cold()});
}

void Bench::add_passes() {
  auto& rows = result_.passes;
  rows.push_back({.name = "cold, overlapped", .cold = true, .bytes = file_bytes_});
  rows.push_back({.name = "warm, overlapped", .bytes = warm_bytes_});
  if (has_link()) {
    rows.push_back({.name = "warm, serial pinned", .bytes = warm_bytes_});
    rows.push_back({.name = "warm, serial pageable", .bytes = warm_bytes_});
  } else {
    rows.push_back({.name = "warm, serial", .bytes = warm_bytes_});
  }
  PassRow& cold = rows.front();
  cold.skipped = cache_.why_not_cold();
}

/// Runs the first passes, which allocate pools and load code, apart from the rounds.
void Bench::measure_startup() {
  cache_.warm();
  moved(warm_bytes_);
  warm_ = make_coordinator(job_);
  const ooc::Stats stats =
      measure_pass(*warm_, part_of_file(job_.path, 0, warm_bytes_), job_.stop).stats;
  moved(warm_bytes_);
  {
    const Clock clock;
    const ooc::Buffer pool(device_->host_memory(),
                           std::max<std::size_t>(stats.layout.pool_bytes, 1));
    result_.startup.pool_seconds = clock.seconds();
  }
  const double rest = stats.timing.startup_seconds - result_.startup.pool_seconds;
  result_.startup.first_chunk_seconds = std::max(rest, 0.0);
  if (!cache_.why_not_cold().empty()) return;
  cache_.evict();
  cold_ = make_coordinator(job_);
  measure_pass(*cold_, part_of_file(job_.path, 0, file_bytes_), job_.stop);
  moved(file_bytes_);
}

void Bench::moved(std::uint64_t bytes) {
  check_stop(job_.stop);
  moved_ += static_cast<double>(bytes);
  if (job_.progress) job_.progress(moved_, reads_);
}

void Bench::take_pass(PassRow& row, ooc::Coordinator& coordinator, const ooc::Source& source) {
  const auto worse = [&row](std::optional<double>& worst, std::optional<double> cached) {
    if (!worst || (cached && (row.cold ? *cached > *worst : *cached < *worst))) worst = cached;
  };
  worse(row.cached_before, ooc::detail::page_cache_fraction(source));
  const MeasuredPass pass = measure_pass(coordinator, source, job_.stop);
  worse(row.cached_after, ooc::detail::page_cache_fraction(source));
  row.chunk_bytes = pass.stats.layout.chunk_bytes;
  row.engine = pass.stats.layout.engine;
  row.direct = pass.stats.layout.direct;
  row.seconds.push_back(pass.stats.timing.seconds);
  row.cpu_seconds.push_back(pass.cpu_seconds);
  moved(row.bytes);
}

/// Uses chunks of the pipeline's size, so that only the overlap differs.
void Bench::take_serial(PassRow& row, bool pinned) {
  row.chunk_bytes = result_.passes[1].chunk_bytes;
  row.engine = "pread";
  ooc::detail::measure::SerialPass pass(*device_, KernelKind::histogram_u1, row.chunk_bytes,
                                        pinned);
  const double before = ooc::detail::measure::cpu_seconds();
  row.seconds.push_back(pass.seconds(cache_.file(), row.bytes));
  row.cpu_seconds.push_back(ooc::detail::measure::cpu_seconds() - before);
  moved(row.bytes);
}

void Bench::cold_round() {
  if (cache_.why_not_cold().empty()) cache_.evict();
  if (disk_) {
    disk_->round();
    moved(disk_->part_bytes() * disk_->rows().size());
  }
  PassRow& row = result_.passes.front();
  if (!row.skipped.empty()) return;
  cache_.evict();
  take_pass(row, *cold_, part_of_file(job_.path, 0, row.bytes));
}

void Bench::warm_round() {
  cache_.warm();
  moved(warm_bytes_);
  copies_->round();
  if (link_) link_->round();
  for (const auto& kernel : kernels_) kernel->round();
  auto& rows = result_.passes;
  take_pass(rows[1], *warm_, part_of_file(job_.path, 0, warm_bytes_));
  for (std::size_t i = 2; i < rows.size(); ++i) {
    const bool pinned = rows[i].name.ends_with("pinned");
    take_serial(rows[i], pinned);
  }
}

void Bench::take_ceilings() {
  std::vector<RateRow> rows;
  const auto take = [&rows](CeilingRows& ceiling) { ceiling = best_of(std::exchange(rows, {})); };
  if (disk_) {
    for (const auto& row : disk_->rows()) {
      rows.push_back({row.setting.block_bytes, row.setting.depth, row.bytes_per_second});
    }
    take(result_.disk);
  }
  for (const auto& row : copies_->rows()) rows.push_back({row.threads, 0, row.bytes_per_second});
  take(result_.page_cache);
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    rows.push_back({0, 0, kernels_[i]->bytes_per_second()});
    take(result_.kernels[i]);
  }
  if (!link_) {
    result_.h2d.skipped = result_.d2h.skipped = "the CPU computes where the data lie";
    return;
  }
  for (const auto& row : link_->rows()) rows.push_back({row.chunk_bytes, 0, row.h2d});
  take(result_.h2d);
  for (const auto& row : link_->rows()) rows.push_back({row.chunk_bytes, 0, row.d2h});
  take(result_.d2h);
}

void Bench::set_limits() {
  for (PassRow& row : result_.passes) {
    const CeilingRows& source = row.cold ? result_.disk : result_.page_cache;
    if (!row.skipped.empty() || !source.skipped.empty()) continue;
    StageRates rates{.source = source.bytes_per_second(),
                     .kernel = result_.kernel(KernelKind::histogram_u1).bytes_per_second()};
    if (has_link()) rates.link = result_.h2d.bytes_per_second();
    row.limit =
        limit_of(rates, static_cast<double>(row.bytes), static_cast<double>(row.chunk_bytes));
  }
}

BenchResult Bench::run() {
  prepare();
  add_passes();
  moved(0);
  measure_startup();
  for (std::size_t i = 0; i < job_.runs; ++i) {
    cold_round();
    warm_round();
  }
  take_ceilings();
  set_limits();
  if (sweep_) result_.sweep = sweep_->run([this](std::uint64_t bytes) { moved(bytes); });
  return std::move(result_);
}

}  // namespace

double CeilingRows::bytes_per_second() const {
  return rows.empty() ? 0 : median(rows[best].bytes_per_second);
}

double PassRow::bytes_per_second() const {
  const double typical = median(seconds);
  return typical > 0 ? static_cast<double>(bytes) / typical : 0;
}

BenchOutline outline_measurements(const BenchJob& job) {
  const auto settings = settings_of_disk();
  const ooc::detail::File file = ooc::detail::File::open(job.path);
  BenchOutline plan{.file_bytes = size_of_file(job), .disk_settings = settings.size()};
  plan.warm_bytes = warm_part(plan.file_bytes);
  plan.why_no_disk = ooc::detail::measure::DiskSweep::why_not(file, settings.size());
  if (plan.why_no_disk.empty()) {
    plan.part_bytes = ooc::detail::measure::DiskSweep::part_bytes(file, settings.size());
  }
  plan.in_memory = is_tmpfs(job.path);
  if (plan.in_memory) plan.why_not_cold = in_memory;
  plan.reads = reads_of(job, plan);
  return plan;
}

BenchResult run_measurements(const BenchJob& job) {
  size_of_file(job);  // throws if the file is empty
  return Bench(job).run();
}

}  // namespace ooc_run
