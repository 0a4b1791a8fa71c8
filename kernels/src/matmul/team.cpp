#include "matmul/team.hpp"

#include "matmul/product_sum.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/detail/ranks/together.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <stop_token>
#include <utility>

namespace ooc::detail::product {

namespace {

bool is_gpu(const Device* device) {
  return device->kind() != DeviceKind::cpu;
}

/// Returns the devices of a coordinator that may multiply: its GPUs if it has any, else the CPU.
std::vector<Device*> candidates_of(const Coordinator& coordinator) {
  std::vector<Device*> devices = coordinator.devices();
  if (std::ranges::any_of(devices, is_gpu)) std::erase_if(devices, std::not_fn(is_gpu));
  return devices;
}

/// Returns the number of multiplications, which may be too large for an integer.
double multiplications(const Multiplication& product) {
  return static_cast<double>(product.rows()) * static_cast<double>(product.columns()) *
         static_cast<double>(product.a.shape()[1]);
}

}  // namespace

/// A device, its blocks, and its results.
struct Team::Member {
  explicit Member(Workplace own) : place(std::move(own)) {}

  Prepared prepare(const Multiplication& product, const Region& block,
                   const std::optional<ProductCheckpoint::Begun>& begun = {});
  void add(const MatrixProduct& part, const Stats& of_block);

  Workplace place;
  std::vector<std::size_t> blocks{};
  ProductProgress progress{};
  MatrixProduct product{};  // sum over its blocks
  Stats stats{};
  double ended_seconds = 0;  // seconds since the start of the team

  bool has_run() const { return !product.library.empty(); }
};

/// Plans a block, and adds its plan to that of the member.
Prepared Team::Member::prepare(const Multiplication& of, const Region& block,
                               const std::optional<ProductCheckpoint::Begun>& begun) {
  Prepared prepared = product::prepare(place, of, block, begun);
  const MatrixProduct part{.plan = prepared.plan, .library = prepared.gemm->name()};
  if (!has_run()) {
    product = part;
    return prepared;
  }
  product::add(product, part);
  // The member computes its blocks one after another, so their times add up.
  if (product.plan.multiplying_seconds && part.plan.multiplying_seconds) {
    *product.plan.multiplying_seconds += *part.plan.multiplying_seconds;
  }
  return prepared;
}

/// Adds the results of a block.
void Team::Member::add(const MatrixProduct& part, const Stats& of_block) {
  product.link_bytes += part.link_bytes;
  product.bytes_read += part.bytes_read;
  product.bytes_written += part.bytes_written;
  const double startup = stats.timing.startup_seconds;
  if (stats.layout.device.empty()) {
    stats = of_block;
  } else {
    stats += of_block;
    stats.timing.startup_seconds = startup;
  }
  stats.outcome.bytes = product.bytes_read;
  stats.outcome.passes = 1;
}

/// The state of progress reports.
struct Team::Reports {
  Reports(std::function<void(const Progress&)> to_show, std::uint64_t bytes, double of_products)
      : show(std::move(to_show)), reporter(show, bytes), total(bytes), products(of_products) {}

  /// Returns the bytes of both operands that correspond to a fraction of the multiplications.
  std::uint64_t bytes_of(double part) const {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(total) * part));
  }

  std::function<void(const Progress&)> show;  // may be empty
  ProgressReporter reporter;
  std::uint64_t total;              // bytes
  std::uint64_t resumed_bytes = 0;  // part of `total` from an earlier run
  double products;                  // multiplications in all
  Clock::time_point last = Clock::now();
};

Team::Team(Coordinator& coordinator)
    : coordinator_(coordinator), reservation_(reserve(coordinator, candidates_of(coordinator))) {
  const std::vector<Device*> devices = candidates_of(coordinator);
  Ranks* const ranks = coordinator.ranks();
  const std::array<std::uint64_t, 2> own{std::uint64_t(std::ranges::count_if(devices, is_gpu)),
                                         coordinator.devices().size()};
  std::vector<std::array<std::uint64_t, 2>> all;  // of each rank: GPUs, and all devices
  std::vector<std::byte> said;
  append_bytes(said, own);
  for (const auto& bytes : exchange(ranks, std::move(said))) {
    all.push_back(ByteReader(bytes).take<std::array<std::uint64_t, 2>>());
  }
  const bool only_gpus = std::ranges::any_of(all, [](const auto& rank) { return rank[0] != 0; });
  const std::size_t rank = ranks == nullptr ? 0 : ranks->rank();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t working = only_gpus ? all[i][0] : all[i][1];
    if (i < rank) before_ += working;
    size_ += working;
    left_out_ += all[i][1] - working;
  }
  const std::size_t processes = ranks == nullptr ? 1 : ranks->ranks_on_host();
  for (Device* const device : devices) {
    if (only_gpus && !is_gpu(device)) continue;
    members_.push_back(std::make_unique<Member>(Workplace{
        *device, options_of_each(coordinator, devices.size()), processes * devices.size()}));
  }
}

Team::~Team() = default;

std::vector<std::string> Team::remarks(const Grid& grid) const {
  const Ranks* const ranks = coordinator_.ranks();
  if (ranks != nullptr && !ranks->is_first()) return {};
  std::vector<std::string> remarks;
  if (left_out_ != 0) {
    remarks.emplace_back("only GPUs multiply: a CPU would take far longer for its part");
  }
  if (grid.size() < size_) {
    remarks.push_back("C is too small for all devices: of " + std::to_string(size_) + ", " +
                      std::to_string(grid.size()) + " have a block of it");
  }
  return remarks;
}

/// Deals the blocks to the devices of all ranks in turn: device i gets blocks i, i + size_, ...
void Team::deal(const Grid& grid) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i]->blocks.clear();
    for (std::size_t block = before_ + i; block < grid.size(); block += size_) {
      members_[i]->blocks.push_back(block);
    }
  }
}

/// Calls `work` for each block, on one thread per device. If one of them fails, all stop.
void Team::run_all(const std::function<void(Member&, std::size_t, const PassOptions&)>& work,
                   const PassOptions& wanted, const std::function<void()>& report) {
  StopAtFailure failure;
  const std::stop_callback forward(wanted.stop, [&failure] { failure.abort(); });
  PassThreads threads({&failure});
  for (std::size_t i = 0; i < members_.size(); ++i) {
    threads.start([&, i] {
      Member& member = *members_[i];
      PassOptions options;
      options.stop = failure.token();
      options.abandon = wanted.abandon;
      options.observe = wanted.observe;
      if (wanted.observe && members_.size() > 1) {  // make the numbers of all devices distinct
        options.observe = [&, i](TraceEvent event) {
          event.worker = event.worker * members_.size() + i;
          wanted.observe(event);
        };
      }
      for (const std::size_t block : member.blocks) {
        if (options.stop.stop_requested()) throw interrupted();
        work(member, block, options);
      }
      member.ended_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    });
  }
  Ranks* const ranks = coordinator_.ranks();
  threads.join(
      report, ranks == nullptr ? std::function<void()>{} : [ranks] { ranks->attend(); });
}

MatrixProduct Team::sum() const {
  std::vector<MatrixProduct> parts;
  for (const auto& member : members_) parts.push_back(member->product);
  return sum_of(parts);
}

MatrixProduct Team::plan(const Multiplication& product, const Grid& grid) {
  deal(grid);
  run_all([&](Member& member, std::size_t block,
              const PassOptions&) { member.prepare(product, grid.block(block)); },
          {}, [] {});
  return sum();
}

/// `part_done`: fraction of C that an earlier run has written.
void Team::begin_reports(const Multiplication& product, const PassOptions& wanted,
                         double part_done) {
  std::function<void(const Progress&)> show;
  if (wanted.progress) {
    show = [this, progress = wanted.progress](Progress done) {
      done.resumed_bytes = reports_->resumed_bytes;
      progress(done);
    };
  }
  reports_ = std::make_unique<Reports>(std::move(show), product.a.bytes() + product.b.bytes(),
                                       std::max(multiplications(product), 1.0));
  reports_->resumed_bytes = reports_->bytes_of(part_done);
}

void Team::report() {
  double products = 0;
  std::uint64_t bytes = 0;
  std::size_t in_flight = 0;
  for (const auto& member : members_) {
    products += member->progress.products;
    bytes += member->progress.bytes;
    in_flight += member->progress.in_flight;
  }
  const std::uint64_t done =
      share_progress(coordinator_.ranks(), reports_->bytes_of(products / reports_->products));
  reports_->reporter.report(reports_->resumed_bytes + done, bytes, in_flight);
  reports_->last = Clock::now();
}

void Team::report_if_due() {
  constexpr std::chrono::milliseconds interval{100};
  if (Clock::now() - reports_->last >= interval) report();
}

MatrixProduct Team::run(const Multiplication& product, const Grid& grid, const PassOptions& wanted,
                        ProductCheckpoint* checkpoint, Stats& stats) {
  deal(grid);
  begin_reports(product, wanted, checkpoint == nullptr ? 0 : checkpoint->part_done());
  run_all(
      [&](Member& member, std::size_t block, const PassOptions& options) {
        const auto begun = checkpoint == nullptr ? std::nullopt : checkpoint->begun(block);
        Prepared prepared = member.prepare(product, grid.block(block), begun);
        ProductJob& job = prepared.job;
        Stats of_block;
        of_block.timing.startup_seconds =
            std::chrono::duration<double>(Clock::now() - start_).count();
        of_block.timing.device_seconds = prepared.device_seconds;
        of_block.layout.device = member.place.device.name();
        of_block.layout.reasons = prepared.plan.reasons;
        of_block.layout.page_cache_fraction = prepared.plan.page_cache_fraction;
        MatrixProduct part;
        if (checkpoint != nullptr) checkpoint->start(block, job.schedule);
        if (!job.schedule.steps.empty()) {
          part.link_bytes = run_product(member.place, job, *prepared.gemm, *product.file, options,
                                        of_block, member.progress, [&](std::uint64_t tiles) {
                                          if (checkpoint != nullptr) checkpoint->note(block, tiles);
                                        });
        }
        part.bytes_read = of_block.outcome.bytes;
        part.bytes_written = of_block.outcome.bytes_written;
        member.add(part, of_block);
      },
      wanted, [this] { report(); });
  add_stats(stats);
  return sum();
}

double Team::busy_seconds() const {
  double first = std::numeric_limits<double>::infinity(), last = 0;
  for (const auto& member : members_) {
    if (!member->has_run()) continue;
    first = std::min(first, member->stats.timing.startup_seconds);
    last = std::max(last, member->ended_seconds);
  }
  return std::max(last - first, 0.0);
}

/// Adds the results of all devices and, if there are several, the share of each.
void Team::add_stats(Stats& stats) const {
  std::optional<Stats> sum;
  double ended = 0;
  for (const auto& member : members_) {
    if (!member->has_run()) continue;
    const Stats& own = member->stats;
    ended = std::max(ended, member->ended_seconds);
    stats.devices.push_back({.device = own.layout.device,
                             .streams = own.layout.streams,
                             .bytes = own.outcome.bytes,
                             .busy_seconds = member->ended_seconds - own.timing.startup_seconds,
                             .start_seconds = own.timing.startup_seconds,
                             .idle_seconds = -member->ended_seconds});
    if (sum) {
      sum->add_beside(own);
    } else {
      sum = own;
    }
  }
  for (DeviceShare& share : stats.devices) share.idle_seconds += ended;
  if (stats.devices.size() == 1) stats.devices.clear();
  stats.layout.device = coordinator_.device().name();
  if (!sum) return;
  stats.layout = sum->layout;
  sum->timing.checkpoint_seconds = stats.timing.checkpoint_seconds;
  stats.timing = sum->timing;
  stats.outcome.bytes = sum->outcome.bytes;
  stats.outcome.bytes_written = sum->outcome.bytes_written;
  std::ranges::copy(sum->outcome.remarks, std::back_inserter(stats.outcome.remarks));
}

}  // namespace ooc::detail::product
