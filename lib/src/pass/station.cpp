#include "pass/station.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "device/resident_memory.hpp"
#include "pass/loading.hpp"
#include "pass/pass.hpp"
#include "pass/storing.hpp"
#include "sizing/dry_run_pass.hpp"

namespace ooc::detail {

namespace {

/// The GPU has started, and cannot page-lock the memory that was read ahead into.
class NotLocked final : public Error {
 public:
  using Error::Error;
};

/// Returns half the chunk of a layout (bytes); 0 if the user has fixed it, or if it does not fit
/// the blocks of other devices.
std::size_t smaller_chunk(const Layout& layout, const Wishes& wishes) {
  const StepNeeds& needs = wishes.needs;
  const bool is_fixed = needs.lending && needs.lending->step_records != 0;
  if (wishes.options.chunk_bytes != 0 || is_fixed) return 0;
  const std::size_t half = half_chunk_bytes(layout, needs);
  const bool is_whole =
      !needs.share || half == 0 || needs.share->block_records() % (half / needs.bytes()) == 0;
  return is_whole ? half : 0;
}

}  // namespace

Station::Station(std::unique_ptr<Device> device, Options options, std::size_t lanes_before)
    : device_(std::move(device)),
      options_(std::move(options)),
      lanes_before_(lanes_before),
      workers_(choose_workers(options_, device_->facts())) {
  if (options_.memory_bytes != 0) device_->host_memory().set_limit(options_.memory_bytes);
  if (options_.device_bytes != 0) device_->device_memory().set_limit(options_.device_bytes);
  // Twice as many where lanes have one buffer instead of two (Operation::lending()), and one more
  // where each waits for the step before.
  const std::size_t most = std::max(workers_.reading_lanes, 2 * workers_.lanes);
  for (std::size_t i = 0; i < most; ++i) {
    all_lanes_.push_back(std::make_unique<Lane>(*device_, lanes_before + i));
  }
}

void Station::release() {
  pool_.reset();
  for (const auto& lane : all_lanes_) lane->release();
}

/// Chooses the lanes, and makes the pool and buffers as large as the layout says. Without memory to
/// read ahead, the pass runs without that.
void Station::reserve(const Layout& layout, std::size_t outputs) {
  const std::size_t segments = std::max(layout.plan.max_extents(), outputs);
  // A pool of larger slots will do, unless they take what others need of a limited memory.
  const auto slots_fit = [&] {
    return options_.memory_bytes == 0 ? pool_->slot_bytes() >= layout.slot_bytes
                                      : pool_->slot_bytes() == layout.slot_bytes;
  };
  // A pass that reads nothing leaves the pool for those that do.
  const bool any_larger = layout.plan.reads_nothing() && options_.memory_bytes == 0;
  const auto is_large_enough = [&] {
    return any_larger ? pool_->size() >= layout.all_slots() : pool_->size() == layout.all_slots();
  };
  const bool fits = pool_ && is_large_enough() && slots_fit() && pool_segments_ >= segments;
  lanes_ = std::span(all_lanes_).first(layout.lanes);
  for (const auto& idle : std::span(all_lanes_).subspan(layout.lanes)) idle->release();
  // The old pool is freed first, since there may be no room for both.
  if (!fits) pool_.reset();
  for (const auto& lane : lanes_) lane->reserve(layout.buffers);
  const auto make_pool = [&](std::size_t slots) {
    pool_ = std::make_unique<ChunkPool>(device_->host_memory(), slots, layout.slot_bytes, segments);
    pool_segments_ = segments;
  };
  if (!fits) {
    try {
      make_pool(layout.all_slots());
    } catch (const Error& error) {
      if (layout.slots_ahead == 0 || error.kind() != ErrorKind::memory) throw;
      make_pool(layout.most_slots);
    }
  }
  reads_ahead_ = layout.slots_ahead != 0 && layout.slots_ahead <= pool_->size();
  pool_->restart(layout.slots);
}

/// Waits until the device has started, and allocates what the lanes need there, after memory that
/// keeps the input there. Throws Error.
void Station::prepare_lanes(const PassJob& job, std::size_t buffer_bytes,
                            ResidentMemory* resident) {
  try {
    const Timed timed(device_seconds_);
    job.bind_thread();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || !reads_ahead_ || !device_->has_started()) throw;
    throw NotLocked(error.kind(), error.what(), error.details());
  }
  for (const PassInput& input : job.inputs) {
    if (input.resident != nullptr) input.resident->require_on(*device_, true);
  }
  if (resident != nullptr) resident->reserve(buffer_bytes);
  detail::prepare(lanes_, *device_, job.wanted.observe, buffer_bytes);
}

/// Adds what the lanes did, and how long it took.
void Station::describe_lanes(Stats& stats) const {
  stats.timing.startup_seconds = stats.timing.seconds;
  stats.timing.device_seconds = device_->reads_host_memory() ? 0 : device_seconds_;
  for (const auto& lane : lanes_) {
    const Lane::Times& times = lane->times();
    if (times.steps != 0) {
      stats.timing.startup_seconds = std::min(stats.timing.startup_seconds, times.first_seconds);
    }
    stats.outcome.records += times.records;
    stats.outcome.bytes += times.bytes;
    stats.timing.h2d += times.h2d;
    stats.timing.kernel += times.kernel;
    stats.timing.d2h += times.d2h;
  }
}

void Station::set_memory_limit(std::size_t bytes) {
  if (bytes == options_.memory_bytes) return;
  release();
  options_.memory_bytes = bytes;
  device_->host_memory().set_limit(bytes);
}

Stats Station::run(const PassJob& job) {
  const Stopwatch watch;
  Facts facts = measure(job);
  return run(job, std::move(facts), wishes(job), watch);
}

Facts Station::measure(const PassJob& job) const {
  // Outputs whose records share one room are as one.
  const auto outputs = job.operation.groups() != 0 ? job.outputs.first(1) : job.outputs;
  return measure_facts(device_->facts(), !device_->has_started(), job.inputs, outputs);
}

Wishes Station::wishes(const PassJob& job) const {
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    const auto& [source, record, decoding, resident] = job.inputs[i];
    SourceAccess::require_unread(source);
    if (resident == nullptr) continue;
    resident->require_on(*device_, false);
    resident->require_alignment(i, record.alignment);
  }
  return {.options = options_,
          .workers = workers_,
          .needs = needs_of(job.inputs, &job.operation, job.wanted),
          .best_depth = best_depth_};
}

double Station::last_seconds() const {
  double last = 0;
  for (const auto& lane : lanes_) last = std::max(last, lane->times().last_seconds);
  return last;
}

/// Begins the pass anew, once if memory that was read ahead cannot be page-locked, and once if a
/// GPU has no room because others use it too: then with half the chunk, unless the user has fixed
/// that.
Stats Station::run(const PassJob& job, Facts facts, Wishes wishes, const Stopwatch& watch) {
  device_seconds_ = 0;
  device_->device_memory().restart_peak();
  std::size_t refused_chunk_bytes = 0;
  std::string why_smaller, why_not_ahead, why_not_resident;
  for (;;) {
    const Layout layout = choose_layout(facts, wishes);
    try {
      Stats stats = attempt(job, facts, layout, wishes.needs.share != nullptr, watch);
      if (refused_chunk_bytes != 0) {
        stats.layout.why_chunk = {
            ReasonKind::chunk_halved, why_smaller, {layout.chunk_bytes, refused_chunk_bytes}};
        stats.outcome.remarks.push_back("using chunks of " + std::to_string(layout.chunk_bytes) +
                                        " bytes instead of " + std::to_string(refused_chunk_bytes) +
                                        ": " + why_smaller);
      }
      if (!why_not_resident.empty()) {
        stats.outcome.remarks.push_back("the input does not stay on the device: " +
                                        why_not_resident);
      }
      if (!why_not_ahead.empty()) {
        stats.outcome.remarks.push_back("what was read while the GPU started was read again: " +
                                        why_not_ahead);
      }
      return stats;
    } catch (const NotLocked& refused) {
      why_not_ahead = refused.what();
      facts.device_starts = false;
    } catch (const NoRoom& refused) {
      if (auto* const resident = resident_memory_of(job.inputs);
          resident != nullptr && resident->release()) {
        wishes.needs.resident = 0;
        facts.device_starts = false;
        why_not_resident = refused.what();
        continue;
      }
      const std::size_t smaller = smaller_chunk(layout, wishes);
      if (smaller == 0) throw;
      wishes.options.chunk_bytes = smaller;
      facts.device_starts = false;
      refused_chunk_bytes = layout.chunk_bytes;
      why_smaller = refused.what();
    }
  }
}

Stats Station::attempt(const PassJob& job, const Facts& facts, const Layout& layout, bool is_shared,
                       const Stopwatch& watch) {
  const auto& [inputs, operation, wanted, outputs, bind_thread] = job;
  lanes_ = {};
  Stats stats = describe_layout(facts, layout);
  std::optional<Checksum> checksum;
  if (wanted.checksum) checksum.emplace();
  if (layout.plan.size() == 0) {
    stats.layout.device = device_->name();
    if (checksum) stats.outcome.checksum = checksum->text();
    return stats;
  }

  reserve(layout, outputs.size());
  if (layout.slots_ahead != 0 && !reads_ahead_) {
    stats.layout.read_ahead_bytes = 0;
    stats.layout.reasons.push_back({ReasonKind::no_read_ahead});
  }
  Loading loading(options_, wanted, layout, inputs, *pool_, reads_ahead_);
  std::optional<Storing> storing;
  if (!outputs.empty()) {
    const bool appends = operation.selects() || is_produced(inputs);
    storing.emplace(options_, wanted, layout, outputs, appends, *pool_);
  }
  Tickets tickets(layout.plan.steps(), wanted.stop);
  ResidentMemory* const resident = resident_memory_for(inputs, operation, layout);
  if (resident != nullptr) resident->begin_pass();
  const PassParts parts{.plan = layout.plan,
                        .pool = *pool_,
                        .tickets = tickets,
                        .readers = loading.inline_readers(),
                        .operation = operation,
                        .checksum = checksum ? &*checksum : nullptr,
                        .inputs = stored_records(inputs, layout.plan),
                        .watch = watch,
                        .observe = wanted.observe,
                        .outputs = outputs,
                        .places = layout.writes ? layout.writes->places : ResultPlaces{},
                        .appender = storing ? storing->appender() : nullptr,
                        .is_produced = is_produced(inputs),
                        .resident = resident,
                        .records_before = inputs.empty() ? 0 : records_before(inputs.front()),
                        .lanes_before = lanes_before_};
  Writer* const writer = storing ? &storing->writer() : nullptr;
  run_threads(job, parts, layout, is_shared, loading, writer);

  stats.timing.seconds = watch.seconds();
  bind_thread();  // the caller is about to free what the operation holds there
  for (const PassInput& input : inputs) {
    auto remark = input.source.check_unchanged();
    if (remark) stats.outcome.remarks.push_back(std::move(*remark));
  }
  loading.describe(stats);
  if (storing) storing->describe(stats);
  describe_lanes(stats);
  describe_end(parts, inputs, layout, loading, stats);
  if (checksum) stats.timing.checksum_seconds = checksum->seconds_busy();
  if (checksum && !stats.outcome.partial) stats.outcome.checksum = checksum->text();
  return stats;
}

/// Runs the threads of a pass. `writer`: null without outputs.
void Station::run_threads(const PassJob& job, const PassParts& parts, const Layout& layout,
                          bool is_shared, Loading& loading, Writer* writer) {
  Pass pass(parts, lanes_, loading.reader(), loading.producer(), writer);
  const auto prepare = [&] {
    prepare_lanes(job, layout.buffer_bytes(), parts.fills_resident() ? parts.resident : nullptr);
    for (const PassInput& input : job.inputs) SourceAccess::begin_producer(input.source);
    loading.stop_reading_ahead();
    if (!is_shared) job.operation.prepare(layout.lanes, layout.plan.steps());
  };
  const bool only_writes = job.inputs.empty() && layout.writes;
  ProgressReporter reporter(job.wanted.progress, parts.is_produced ? 0
                                                 : only_writes     ? layout.writes->plan.bytes()
                                                                   : layout.plan.bytes());
  pass.run(prepare, [&] {
    const std::uint64_t read = loading.bytes_done() + parts.resident_bytes();
    const std::uint64_t written = writer != nullptr ? writer->bytes_done() : 0;
    reporter.report(only_writes ? written : read, read + written,
                    loading.in_flight() + (writer != nullptr ? writer->in_flight() : 0));
  });
}

/// Adds how much of the data the pass has processed, and what it took in memory. Ends the reading
/// of a producer, and keeps what was loaded on the device if it is all of the data.
void Station::describe_end(const PassParts& parts, std::span<const PassInput> inputs,
                           const Layout& layout, Loading& loading, Stats& stats) {
  stats.layout.device = device_->name();
  stats.layout.slots = pool_->size();
  stats.layout.pool_bytes = pool_->memory().size();
  if (!device_->reads_host_memory()) {
    stats.layout.device_bytes = device_->device_memory().peak_bytes();
  }
  if (const auto best = loading.best_depth()) best_depth_ = best;
  stats.outcome.resident_bytes = parts.resident_bytes();
  stats.outcome.partial = stats.outcome.records != layout.plan.planned_records();
  if (parts.fills_resident() && !stats.outcome.partial) {
    std::vector<RecordShape> shapes;
    for (const PassInput& input : inputs) shapes.push_back(input.record);
    parts.resident->hold(layout.plan.records(), layout.chunk_bytes / layout.record_bytes, shapes);
    if (parts.resident->bytes() == 0) stats.layout.reasons.push_back({ReasonKind::input_not_kept});
  }
  if (const ProducerReader* const reading = loading.producer()) {
    const std::uint64_t used = stats.outcome.records * layout.record_bytes;
    stats.outcome.partial = !reading->has_ended() || used != reading->bytes_done();
    SourceAccess::end_producer(inputs.front().source, used);
    stats.layout.chunks = divide_up(used, layout.plan.chunk_bytes());
  }
}

}  // namespace ooc::detail
