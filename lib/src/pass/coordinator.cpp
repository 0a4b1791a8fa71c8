#include <ooc/coordinator.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/transfer/writer.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "device/resident_memory.hpp"
#include "observe/stopwatch.hpp"
#include "pass/appender.hpp"
#include "pass/lane.hpp"
#include "pass/loading.hpp"
#include "pass/pass.hpp"
#include "sizing/dry_run_pass.hpp"
#include "sizing/layout.hpp"

namespace ooc {

namespace {

/// The GPU has started, and cannot page-lock the memory that was read ahead into.
class NotLocked final : public Error {
 public:
  using Error::Error;
};

std::vector<OutputFile*> files_of(std::span<const Output> outputs) {
  std::vector<OutputFile*> files;
  for (const Output& output : outputs) files.push_back(&output.file);
  return files;
}

std::string name_of(Version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

/// The types of another version may have other members than those that the program has compiled.
void check_version(Version headers) {
  const Version library = version();
  if (headers.major == library.major && headers.minor == library.minor) return;
  throw Error(ErrorKind::usage,
              "this program was compiled with the headers of libooc " + name_of(headers) +
                  ", and runs with libooc " + name_of(library),
              {.why = "before 1.0, each minor version may change the types of the headers",
               .hint = "compile it with the headers of the library that it finds; ldd PROGRAM "
                       "shows the path of a shared one"});
}

}  // namespace

// The order matters: lanes and pool give their memory back to the device.
struct Coordinator::State {
  std::unique_ptr<Device> device;
  Options options;
  std::atomic_flag busy{};  // a pass runs, or some other job has reserved the coordinator
  Workers workers;
  std::optional<std::size_t> best_depth{};  // of a pass before, which may have read the same disk
  std::size_t pool_segments = 0;
  std::unique_ptr<ChunkPool> pool;
  std::vector<std::unique_ptr<Lane>> all_lanes;
  Reservation* reservation = nullptr;              // of the pass that runs
  std::span<const std::unique_ptr<Lane>> lanes{};  // of the pass that runs
  bool reads_ahead = false;   // the pass that runs has a slot for each of its first chunks
  double device_seconds = 0;  // that the device has taken to start, of the pass that runs

  Stats run_passes(std::span<const PassInput> inputs, Operation& operation,
                   const PassOptions& wanted, std::span<const Output> outputs);
  Stats run(const Facts& facts, const Layout& layout, const Stopwatch& watch,
            std::span<const PassInput> inputs, Operation& operation, const PassOptions& wanted,
            std::span<const Output> outputs);
  void reserve(const Layout& layout, std::size_t outputs);
  void prepare_lanes(const Observe& observe, std::size_t buffer_bytes,
                     detail::ResidentMemory* resident);
  void add_times(const Writer* writer, Stats& stats) const;
};

Coordinator::Coordinator(std::unique_ptr<Device> device, Options options, Version headers)
    : state_(std::make_unique<State>()) {
  check_version(headers);
  state_->device = std::move(device);
  state_->options = bounded(std::move(options));
  state_->workers = choose_workers(state_->options, state_->device->facts());
  Device& used = *state_->device;
  if (state_->options.memory_bytes != 0) {
    used.host_memory().set_limit(state_->options.memory_bytes);
  }
  if (state_->options.device_bytes != 0) {
    used.device_memory().set_limit(state_->options.device_bytes);
  }
  // Twice as many where lanes have one buffer instead of two (Operation::lending()), and one more
  // where each waits for the step before.
  const std::size_t most_lanes = std::max(streams(), 2 * state_->workers.lanes);
  for (std::size_t i = 0; i < most_lanes; ++i) {
    state_->all_lanes.push_back(std::make_unique<Lane>(used, i));
  }
}

Coordinator::~Coordinator() = default;

Coordinator::Reservation Coordinator::begin_pass() {
  return {state_->busy, *state_->device};
}

Coordinator::Reservation Coordinator::reserve() {
  Reservation reservation = begin_pass();
  state_->pool.reset();
  for (const auto& lane : state_->all_lanes) lane->release();
  return reservation;
}

Device& Coordinator::device() noexcept {
  return *state_->device;
}
const Options& Coordinator::options() const noexcept {
  return state_->options;
}
std::size_t Coordinator::streams() const noexcept {
  return state_->workers.reading_lanes;
}

/// Makes pool and buffers as large as the layout says. Without memory to read ahead, the pass runs
/// without that.
void Coordinator::State::reserve(const Layout& layout, std::size_t outputs) {
  const std::size_t segments = std::max(layout.plan.max_extents(), outputs);
  // A pool of larger slots will do, unless they take what others need of a limited memory.
  const auto slots_fit = [&] {
    return options.memory_bytes == 0 ? pool->slot_bytes() >= layout.slot_bytes
                                     : pool->slot_bytes() == layout.slot_bytes;
  };
  // A pass that reads nothing leaves the pool for those that do.
  const bool any_larger = layout.plan.reads_nothing() && options.memory_bytes == 0;
  const auto is_large_enough = [&] {
    return any_larger ? pool->size() >= layout.all_slots() : pool->size() == layout.all_slots();
  };
  const bool fits = pool && is_large_enough() && slots_fit() && pool_segments >= segments;
  // The old pool is freed first, since there may be no room for both.
  if (!fits) pool.reset();
  for (const auto& lane : lanes) lane->reserve(layout.buffers);
  const auto make_pool = [&](std::size_t slots) {
    pool = std::make_unique<ChunkPool>(device->host_memory(), slots, layout.slot_bytes, segments);
    pool_segments = segments;
  };
  if (!fits) {
    try {
      make_pool(layout.all_slots());
    } catch (const Error& error) {
      if (layout.slots_ahead == 0 || error.kind() != ErrorKind::memory) throw;
      make_pool(layout.most_slots);
    }
  }
  reads_ahead = layout.slots_ahead != 0 && layout.slots_ahead <= pool->size();
  pool->restart(layout.slots);
}

/// Waits until the device has started, and allocates what the lanes need there, after memory that
/// keeps the input there. Throws Error.
void Coordinator::State::prepare_lanes(const Observe& observe, std::size_t buffer_bytes,
                                       detail::ResidentMemory* resident) {
  try {
    const Timed timed(device_seconds);
    reservation->bind_thread();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || !reads_ahead || !device->has_started()) throw;
    throw NotLocked(error.kind(), error.what(), error.details());
  }
  if (resident != nullptr) resident->reserve(buffer_bytes);
  ooc::prepare(lanes, *device, observe, buffer_bytes);
}

/// Adds the times of all threads.
void Coordinator::State::add_times(const Writer* writer, Stats& stats) const {
  if (writer != nullptr) {
    stats.timing.write.busy = writer->seconds_busy();
    stats.timing.write.waits_in = writer->seconds_waiting();
    stats.outcome.bytes_written = writer->bytes_done();
  }
  stats.timing.startup_seconds = stats.timing.seconds;
  stats.timing.device_seconds = device->reads_host_memory() ? 0 : device_seconds;
  for (const auto& lane : lanes) {
    const Lane::Times& times = lane->times();
    if (times.steps != 0) {
      stats.timing.startup_seconds = std::min(stats.timing.startup_seconds, times.first_seconds);
    }
    stats.outcome.bytes += times.bytes;
    stats.timing.h2d.busy += times.h2d.busy;
    stats.timing.h2d.waits_in += times.h2d.waits_in;
    stats.timing.kernel.busy += times.kernel.busy;
    stats.timing.kernel.waits_in += times.kernel.waits_in;
    stats.timing.d2h.busy += times.d2h.busy;
    stats.timing.d2h.waits_in += times.d2h.waits_in;
  }
}

Stats Coordinator::run(const Source& source, RecordShape record, Operation& operation,
                       const PassOptions& wanted, std::span<const Output> outputs) {
  Reservation pass = begin_pass();
  return run(pass, std::array{PassInput{source, record}}, operation, wanted, outputs);
}

Stats Coordinator::run(Reservation& pass, std::span<const PassInput> inputs, Operation& operation,
                       const PassOptions& wanted, std::span<const Output> outputs) {
  if (wanted.checksum && inputs.size() != 1) {
    throw Error(ErrorKind::usage,
                inputs.empty() ? "a pass without a source has no checksum"
                               : "a pass over several inputs has no checksum",
                {.why = "a checksum is of the bytes of one source, in their order"});
  }
  const bool is_nothing = inputs.empty() && outputs.empty();
  if (is_nothing) throw Error(ErrorKind::usage, "a pass has an input or an output");
  if (operation.lending()) require_none(wanted.checkpoint);
  state_->reservation = &pass;
  Stats stats = state_->run_passes(inputs, operation, wanted, outputs);
  if (wanted.keep_partial) return stats;
  const bool is_stopped = !outputs.empty() && wanted.stop.stop_requested();
  if (!stats.outcome.partial && !is_stopped) return stats;
  if (outputs.empty()) throw Error(ErrorKind::interrupted, "interrupted");
  throw Error(ErrorKind::interrupted, "interrupted; nothing was written",
              {.path = outputs.front().file.path()});
}

/// The pass is begun anew, once each, where what was read ahead cannot be page-locked, and where a
/// GPU has no room, since others use it too: with half the chunk then, unless the user has fixed
/// it.
Stats Coordinator::State::run_passes(std::span<const PassInput> inputs, Operation& operation,
                                     const PassOptions& wanted, std::span<const Output> outputs) {
  const Stopwatch watch;
  device_seconds = 0;
  device->device_memory().restart_peak();
  Facts facts = measure_facts(device->facts(), !device->has_started(), inputs, outputs);
  Wishes wishes{.options = options,
                .workers = workers,
                .needs = needs_of(inputs, &operation, wanted),
                .best_depth = best_depth};
  for (const PassInput& input : inputs) {
    input.source.require_unread();
    if (input.resident != nullptr) input.resident->require_on(*device);
  }
  std::size_t refused_chunk_bytes = 0;
  std::string why_smaller, why_not_ahead, why_not_resident;
  for (;;) {
    const Layout layout = choose_layout(facts, wishes);
    try {
      Stats stats = run(facts, layout, watch, inputs, operation, wanted, outputs);
      if (refused_chunk_bytes != 0) {
        stats.layout.why_chunk = {
            Choice::chunk_halved, why_smaller, {layout.chunk_bytes, refused_chunk_bytes}};
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
      if (auto* const resident = detail::resident_memory_of(inputs);
          resident != nullptr && resident->release()) {
        wishes.needs.resident = 0;
        facts.device_starts = false;
        why_not_resident = refused.what();
        continue;
      }
      const bool is_fixed = wishes.needs.lending && wishes.needs.lending->step_records != 0;
      if (wishes.options.chunk_bytes != 0 || is_fixed) throw;
      wishes.options.chunk_bytes = half_chunk_bytes(layout, wishes.needs);
      if (wishes.options.chunk_bytes == 0) throw;
      facts.device_starts = false;
      refused_chunk_bytes = layout.chunk_bytes;
      why_smaller = refused.what();
    }
  }
}

Stats Coordinator::State::run(const Facts& facts, const Layout& layout, const Stopwatch& watch,
                              std::span<const PassInput> inputs, Operation& operation,
                              const PassOptions& wanted, std::span<const Output> outputs) {
  Stats stats = describe_layout(facts, layout);
  std::optional<Checksum> checksum;
  if (wanted.checksum) checksum.emplace();
  if (layout.plan.size() == 0) {
    stats.layout.device = device->name();
    if (checksum) stats.outcome.checksum = checksum->text();
    return stats;
  }

  lanes = std::span(all_lanes).first(layout.lanes);
  for (const auto& idle : std::span(all_lanes).subspan(layout.lanes)) idle->release();
  reserve(layout, outputs.size());
  if (layout.slots_ahead != 0 && !reads_ahead) {
    stats.layout.read_ahead_bytes = 0;
    stats.layout.reasons.push_back({Choice::no_read_ahead});
  }
  Loading loading(options, wanted, layout, inputs, *pool, reads_ahead);
  const Observe& observe = wanted.observe;
  std::optional<Writer> writer;
  TransferReporter write_reporter(TraceEvent::Kind::write, pool->size(), observe, layout.slots);
  std::optional<Appender> appender;
  if (!outputs.empty()) {
    const WriteLayout& writes = *layout.writes;
    const bool appends = operation.selects() || is_produced(inputs);
    if (appends) appender.emplace(outputs, layout.plan, pool->window());
    writer.emplace(files_of(outputs), appender ? static_cast<const Plan&>(*appender) : writes.plan,
                   *pool, make_engine(options, writes.config, *pool, layout.most_slots),
                   writes.config.block_bytes, writes.config.direct);
    writer->set_observer(write_reporter);
  }
  Tickets tickets(layout.plan.steps(), wanted.stop);
  detail::ResidentMemory* const resident = resident_memory_for(inputs, operation, layout);
  const bool fills_resident = resident != nullptr && layout.plan.resident_records() == 0;
  if (resident != nullptr) resident->begin_pass();
  const auto resident_bytes = [&] { return resident != nullptr ? resident->used_bytes() : 0; };
  const PassParts parts{.plan = layout.plan,
                        .pool = *pool,
                        .tickets = tickets,
                        .readers = loading.inline_readers(),
                        .operation = operation,
                        .checksum = checksum ? &*checksum : nullptr,
                        .inputs = stored_records(inputs, layout.plan),
                        .watch = watch,
                        .observe = observe,
                        .outputs = outputs,
                        .places = layout.writes ? layout.writes->places : ResultPlaces{},
                        .appender = appender ? &*appender : nullptr,
                        .is_produced = is_produced(inputs),
                        .resident = resident,
                        .records_before = inputs.empty() ? 0 : records_before(inputs.front())};
  Pass pass(parts, lanes, loading.reader(), loading.producer(), writer ? &*writer : nullptr);
  const auto prepare = [&] {
    prepare_lanes(observe, layout.buffer_bytes(), fills_resident ? resident : nullptr);
    for (const PassInput& input : inputs) input.source.begin_producer();
    loading.stop_reading_ahead();
  };
  const bool only_writes = inputs.empty() && layout.writes;
  ProgressReporter reporter(wanted.progress, parts.is_produced ? 0
                                             : only_writes     ? layout.writes->plan.bytes()
                                                               : layout.plan.bytes());
  pass.run(prepare, [&] {
    const std::uint64_t read = loading.bytes_done() + resident_bytes();
    const std::uint64_t written = writer ? writer->bytes_done() : 0;
    reporter.report(only_writes ? written : read, read + written,
                    loading.in_flight() + (writer ? writer->in_flight() : 0));
  });

  stats.timing.seconds = watch.seconds();
  reservation->bind_thread();  // the caller is about to free what the operation holds there
  for (const PassInput& input : inputs) {
    auto remark = input.source.check_unchanged();
    if (remark) stats.outcome.remarks.push_back(std::move(*remark));
  }
  stats.layout.device = device->name();
  loading.describe(stats);
  if (writer) describe_notes(writer->engine(), stats);
  if (const auto best = loading.best_depth()) best_depth = best;
  stats.layout.slots = pool->size();
  stats.layout.pool_bytes = pool->memory().size();
  if (!device->reads_host_memory()) {
    stats.layout.device_bytes = device->device_memory().peak_bytes();
  }
  add_times(writer ? &*writer : nullptr, stats);
  stats.outcome.resident_bytes = resident_bytes();
  stats.outcome.partial = stats.outcome.bytes != layout.plan.bytes();
  if (fills_resident && !stats.outcome.partial) {
    std::vector<RecordShape> shapes;
    for (const PassInput& input : inputs) shapes.push_back(input.record);
    resident->hold(layout.plan.records(), layout.chunk_bytes / layout.record_bytes, shapes);
    if (resident->bytes() == 0) stats.layout.reasons.push_back({Choice::input_not_kept});
  }
  if (const ProducerReader* const reading = loading.producer()) {
    const bool is_whole = reading->has_ended() && stats.outcome.bytes == reading->bytes_done();
    stats.outcome.partial = !is_whole;
    inputs.front().source.end_producer(stats.outcome.bytes);
    stats.layout.chunks = divide_up(stats.outcome.bytes, layout.plan.chunk_bytes());
  }
  if (checksum) stats.timing.checksum_seconds = checksum->seconds_busy();
  if (checksum && !stats.outcome.partial) stats.outcome.checksum = checksum->text();
  return stats;
}

}  // namespace ooc
