#include <ooc/coordinator.hpp>

#include <ooc/io/chunk_pool.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/reader.hpp>

#include <algorithm>
#include <chrono>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>

#include "failure.hpp"
#include "lane.hpp"
#include "layout.hpp"
#include "stopwatch.hpp"

namespace ooc {

namespace {

constexpr std::chrono::milliseconds progress_interval{100};

}  // namespace

// The order matters: lanes and pool give their memory back to the device.
struct Coordinator::State {
  std::unique_ptr<Device> device;
  Options options;
  Workers workers;
  std::size_t pool_segments = 0;
  std::unique_ptr<ChunkPool> pool;
  std::vector<std::unique_ptr<Lane>> lanes;

  void reserve(const Layout& layout);
  std::unique_ptr<Engine> make_engine(const Layout& layout) const;
  void run_threads(Reader& reader, const Pass& pass, std::uint64_t total_bytes);
  void add_times(const Reader& reader, Stats& stats) const;
};

Coordinator::Coordinator(std::unique_ptr<Device> device, Options options)
    : state_(std::make_unique<State>()) {
  state_->device = std::move(device);
  state_->options = std::move(options);
  state_->workers = choose_workers(state_->options, state_->device->kind());
  Device& used = *state_->device;
  used.bind_to_thread();
  if (state_->options.memory_bytes != 0) {
    used.host_memory().set_limit(state_->options.memory_bytes);
  }
  if (state_->options.device_bytes != 0) {
    used.device_memory().set_limit(state_->options.device_bytes);
  }
  for (std::size_t i = 0; i < state_->workers.lanes; ++i) {
    state_->lanes.push_back(std::make_unique<Lane>(used, i));
  }
}

Coordinator::~Coordinator() = default;

Device& Coordinator::device() noexcept {
  return *state_->device;
}
const Options& Coordinator::options() const noexcept {
  return state_->options;
}
std::size_t Coordinator::streams() const noexcept {
  return state_->workers.lanes;
}

void Coordinator::State::reserve(const Layout& layout) {
  const std::size_t segments = layout.plan.max_extents();
  const bool fits = pool && pool->size() == layout.slots &&
                    pool->slot_bytes() >= layout.slot_bytes && pool_segments >= segments;
  if (!fits) {
    pool.reset();  // given back first: both might not fit
    pool = std::make_unique<ChunkPool>(device->host_memory(), layout.slots, layout.slot_bytes,
                                       segments);
    pool_segments = segments;
  }
  pool->restart();
  for (const auto& lane : lanes) {
    lane->reserve(std::min<std::uint64_t>(layout.chunk_bytes, layout.plan.bytes()), layout.gathers);
  }
}

std::unique_ptr<Engine> Coordinator::State::make_engine(const Layout& layout) const {
  const EngineOptions wanted{.kind = layout.engine,
                             .depth = layout.queue_depth,
                             .threads = workers.readers,
                             .storage = pool->memory(),
                             .storage_piece = pool->slot_bytes()};
  return options.make_engine ? options.make_engine(wanted) : ooc::make_engine(wanted);
}

void Coordinator::State::run_threads(Reader& reader, const Pass& pass, std::uint64_t total_bytes) {
  Failure failure(*pool);
  std::counting_semaphore<> ended(0);
  const auto start = [&](auto body) {
    return std::jthread([&failure, &ended, body] {
      failure.guard(body);
      ended.release();
    });
  };

  std::vector<std::jthread> threads;
  threads.reserve(lanes.size() + 1);
  failure.guard([&] {
    try {
      for (const auto& lane : lanes) {
        threads.push_back(start([&lane = *lane, &pass] { lane.run(pass); }));
      }
      threads.push_back(start([&] { reader.run(options.stop); }));
    } catch (const std::system_error& error) {
      throw Error(Cause::memory, std::string("cannot start a thread: ") + error.what(),
                  {.hint = "a limit on processes may be reached (`ulimit -u`, pids cgroup)"});
    }
  });

  // This thread only waits, and reports.
  const Stopwatch watch;
  const auto report = [&] {
    if (!options.progress) return;
    failure.guard([&] { options.progress({reader.bytes_read(), total_bytes, watch.seconds()}); });
  };
  for (std::size_t left = threads.size(); left > 0;) {
    if (ended.try_acquire_for(progress_interval)) {
      --left;
    } else {
      report();
    }
  }
  threads.clear();
  report();
  failure.rethrow();
}

/// Where the time of all threads went.
void Coordinator::State::add_times(const Reader& reader, Stats& stats) const {
  stats.disk.busy = reader.seconds_busy();
  stats.disk.waits_out = reader.seconds_without_slot();
  stats.startup_seconds = stats.seconds;
  for (const auto& lane : lanes) {
    const Lane::Times& times = lane->times();
    if (times.bytes != 0) {
      stats.startup_seconds = std::min(stats.startup_seconds, times.first_seconds);
    }
    stats.bytes += times.bytes;
    stats.h2d.busy += times.h2d.busy;
    stats.h2d.waits_in += times.h2d.waits_in;
    stats.kernel.busy += times.kernel.busy;
    stats.kernel.waits_in += times.kernel.waits_in;
  }
}

Stats Coordinator::run(const Source& source, std::size_t element_bytes, Operation& operation) {
  State& state = *state_;
  const Stopwatch watch;
  const Layout layout =
      choose_layout(state.options, state.device->kind(), state.workers, source, element_bytes);
  Stats stats;
  stats.device = state.device->name();
  stats.direct = layout.direct;
  stats.reasons = layout.reasons;
  stats.page_cache_fraction = layout.page_cache_fraction;
  stats.chunk_bytes = layout.chunk_bytes;
  stats.chunks = layout.plan.size();
  stats.streams = state.workers.lanes;
  stats.block_bytes = layout.block_bytes;
  stats.queue_depth = layout.queue_depth;
  if (layout.plan.size() == 0) return stats;

  state.reserve(layout);
  const std::unique_ptr<Engine> engine = state.make_engine(layout);
  Reader reader(source.files(), layout.plan, *state.pool, *engine, layout.block_bytes,
                layout.direct);
  const bool swapped = source.type() && source.type()->swapped;
  const Pass pass{layout.plan,   *state.pool, operation, state.lanes.size(),
                  element_bytes, swapped,     watch};
  state.run_threads(reader, pass, source.bytes());

  stats.seconds = watch.seconds();
  stats.engine = engine->name();
  if (const std::string note = engine->note(); !note.empty()) stats.reasons.push_back(note);
  stats.slots = state.pool->size();
  stats.threads = state.lanes.size() + (stats.engine == "threads" ? state.workers.readers : 1);
  stats.pool_bytes = state.pool->memory().size();
  if (!state.device->shares_host_memory()) {
    stats.device_bytes = state.device->device_memory().peak_bytes();
  }
  state.add_times(reader, stats);
  stats.partial = stats.bytes != source.bytes();
  return stats;
}

}  // namespace ooc
