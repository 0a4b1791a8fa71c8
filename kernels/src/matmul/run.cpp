#include "matmul/run.hpp"

#include "matmul/panel_loader.hpp"
#include "matmul/tile_sender.hpp"
#include "matmul/work_timer.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/detail/transfer/writer.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <vector>

namespace ooc::detail::product {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<PanelBuffer> make_panels(Device& device, std::size_t count, std::uint64_t bytes) {
  std::vector<PanelBuffer> panels;
  for (std::size_t i = 0; i < count; ++i) {
    panels.push_back(
        {Buffer(device.working_memory(), bytes), device.make_event(), device.make_event()});
  }
  return panels;
}

std::vector<TileBuffer> make_tiles(Device& device, std::size_t count, std::uint64_t bytes) {
  std::vector<TileBuffer> tiles;
  for (std::size_t i = 0; i < count; ++i) {
    tiles.push_back({Buffer(device.working_memory(), bytes), device.make_event()});
  }
  return tiles;
}

/// Loads panels and multiplies them. run() is called by one thread.
class Multiplier {
 public:
  Multiplier(Device& device, const ProductJob& job, gemm::Gemm& gemm,
             std::vector<TileBuffer>& tile_buffers, Turns& tiles, ChunkPool& pool,
             const RegionPlan& plan, const PassOptions& wanted, ProductProgress& progress)
      : device_(device),
        stop_(wanted.stop),
        job_(job),
        gemm_(gemm),
        tile_buffers_(tile_buffers),
        tiles_(tiles),
        stream_(device.make_stream()),
        loader_(device, job, pool, plan, wanted.observe),
        a_(make_panels(device, job.schedule.tiling.a_buffers,
                       tiling().tile_rows * tiling().tile_inner * job.problem.operand_bytes)),
        b_(make_panels(device, job.schedule.tiling.b_buffers,
                       tiling().tile_inner * tiling().tile_columns * job.problem.operand_bytes)),
        timer_(device, wanted.observe),
        progress_(progress),
        rows_at_once_(device.reads_host_memory() ? rows_of_a_thread * job.threads : all_rows) {}

  /// Throws Error or Aborted; the device is idle then.
  void run() {
    device_.bind_to_thread();
    try {
      multiply_all();
      stream_->synchronize();
      loader_.finish();
      product_seconds_ = timer_.seconds();
    } catch (...) {
      // Neither panels nor pool may be freed while the device uses them.
      stream_->drain();
      loader_.drain();
      throw;
    }
  }

  const PanelLoader& loader() const { return loader_; }
  double product_seconds() const { return product_seconds_; }

 private:
  // On the CPU, a product blocks until it is done, and meanwhile there are neither interrupts nor
  // progress reports. So each call computes only this many rows per thread, which makes OpenBLAS at
  // most 2 % slower.
  static constexpr std::uint64_t rows_of_a_thread = 1024;
  static constexpr std::uint64_t all_rows = std::numeric_limits<std::uint64_t>::max();

  const Tiling& tiling() const { return job_.schedule.tiling; }

  void multiply_all() {
    const std::vector<Step>& steps = job_.schedule.steps;
    const std::vector<Load>& loads = job_.schedule.loads;
    std::size_t next_load = 0;
    std::size_t tile = 0;  // index of the tile of the next step
    bool begun = false;    // true if that tile has been begun
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      for (; next_load < loads.size() && loads[next_load].step == i; ++next_load) {
        const Load& load = loads[next_load];
        loader_.load(load, (load.operand == Operand::a ? a_ : b_)[load.buffer]);
      }
      if (!begun) tiles_.wait(tile, ChunkState::empty);
      multiply(step, begun);
      begun = true;
      const bool last = i + 1 == steps.size() || steps[i + 1].row != step.row ||
                        steps[i + 1].column != step.column;
      if (!last) continue;
      stream_->record(*tile_buffers_[step.c_buffer].computed);
      tiles_.move_to(tile, ChunkState::computed);
      begun = false;
      ++tile;
    }
  }

  void multiply(const Step& step, bool accumulate) {
    PanelBuffer& a = a_[step.a_buffer];
    PanelBuffer& b = b_[step.b_buffer];
    const gemm::ProductShape sizes{
        .rows = part_size(job_.problem.rows, tiling().tile_rows, step.row),
        .columns = part_size(job_.problem.columns, tiling().tile_columns, step.column),
        .inner = part_size(job_.problem.inner, tiling().tile_inner, step.inner)};
    stream_->wait(*a.loaded);
    stream_->wait(*b.loaded);
    timer_.begin(*stream_);
    std::byte* const c = tile_buffers_[step.c_buffer].memory.data();
    for (std::uint64_t row = 0; row < sizes.rows; row += rows_at_once_) {
      if (stop_.stop_requested()) throw interrupted();
      const gemm::ProductShape part{std::min(rows_at_once_, sizes.rows - row), sizes.columns,
                                    sizes.inner};
      gemm_.multiply(
          *stream_, {a.memory.data() + row * sizes.inner * job_.problem.operand_bytes, sizes.inner},
          {b.memory.data(), sizes.columns},
          {c + row * sizes.columns * job_.problem.product_bytes, sizes.columns}, part, accumulate);
      // The product is enqueued or, on a CPU, complete.
      progress_.products += static_cast<double>(part.rows) * static_cast<double>(part.columns) *
                            static_cast<double>(part.inner);
    }
    timer_.end(*stream_,
               {.kind = TraceEvent::Kind::kernel,
                .chunk = TraceEvent::no_chunk,
                .bytes = (sizes.rows + sizes.columns) * sizes.inner * job_.problem.operand_bytes});
    stream_->record(*a.used);
    stream_->record(*b.used);
  }

  Device& device_;
  std::stop_token stop_;
  const ProductJob& job_;
  gemm::Gemm& gemm_;
  std::vector<TileBuffer>& tile_buffers_;
  Turns& tiles_;
  std::unique_ptr<Stream> stream_;
  PanelLoader loader_;
  std::vector<PanelBuffer> a_, b_;
  WorkTimer timer_;
  ProductProgress& progress_;
  std::uint64_t rows_at_once_;
  double product_seconds_ = 0;
};

/// Raises the queue depth if panels are read row by row, so that as many bytes are in flight. Not
/// for a server, to which each request has its own connection.
IoConfig deepened(IoConfig config, const Options& options, const RegionPlan& plan) {
  if (options.queue_depth != 0 || config.engine == EngineKind::http) return config;
  constexpr std::size_t most = 1024;
  const std::size_t request =
      std::clamp<std::size_t>(plan.mean_extent_bytes(), 1, config.block_bytes);
  const std::size_t depth = config.queue_depth * config.block_bytes / request;
  config.queue_depth = std::clamp(depth, config.queue_depth, std::max(most, config.queue_depth));
  return config;
}

/// Chooses how to write. Tiles with short rows are written through the page cache, which combines
/// them: with direct I/O, much of each row would be in pages that are shared with other tiles
/// (bench/results/h200-short-rows.json).
IoConfig choose_writes(const Options& options, const DeviceFacts& device, Workers workers,
                       const TargetFile& file, const RegionPlan& plan) {
  constexpr std::size_t least_direct = 64 * KiB;
  const IoConfig config = choose_write_config(options, device, workers, file.why_not_direct());
  if (!config.direct || options.direct == DirectIo::yes) return config;
  if (plan.mean_extent_bytes() >= least_direct) return config;
  return through_page_cache(options, device, workers, true, "the rows of the tiles are short");
}

/// Sets the statistics that say how bytes were read and written, and why.
void describe_ways(const ProductJob& job, const IoConfig& reads, const Engine& read_engine,
                   const IoConfig& writes, const Engine& write_engine, Stats& stats) {
  stats.layout.engine = read_engine.name();
  stats.layout.direct = reads.direct;
  stats.layout.block_bytes = reads.block_bytes;
  stats.layout.queue_depth = reads.queue_depth;
  stats.layout.chunk_bytes = job.pools.slot_bytes;
  stats.layout.streams = 1;  // one per stage
  const auto helpers = [](const Engine& engine, const IoConfig& config) {
    return engine.name() == "uring" ? 0 : config.threads;
  };
  stats.layout.threads = 4 + helpers(read_engine, reads) + helpers(write_engine, writes);
  if (writes.reason) stats.layout.reasons.push_back(*writes.reason);
  for (const std::string& note : {read_engine.note(), write_engine.note()}) {
    if (!note.empty()) stats.layout.reasons.push_back({ReasonKind::engine, note});
  }
  for (const std::string& remark : {read_engine.remark(), write_engine.remark()}) {
    if (!remark.empty()) stats.outcome.remarks.push_back(remark);
  }
}

/// The run of a product: a reader brings pieces of the operands into one pool, a multiplier makes
/// tiles of them, and a writer takes these out of another.
class ProductRun {
 public:
  ProductRun(const Workplace& place, const ProductJob& job, gemm::Gemm& gemm, TargetFile& file,
             const PassOptions& wanted, ProductProgress& progress)
      : device_(place.device),
        job_(job),
        wanted_(wanted),
        progress_(progress),
        read_plan_(PanelLoader::entries_of(job), job.pools.slot_bytes),
        write_plan_(TileSender::entries_of(job), job.pools.slot_bytes),
        in_pool_(device_.host_memory(), job.pools.in_slots, job.pools.slot_bytes,
                 read_plan_.max_extents()),
        out_pool_(device_.host_memory(), job.pools.out_slots, job.pools.slot_bytes,
                  write_plan_.max_extents()),
        tiles_(tiling().c_buffers),
        tile_buffers_(
            make_tiles(device_, tiling().c_buffers,
                       tiling().tile_rows * tiling().tile_columns * job.problem.product_bytes)),
        multiplier_(device_, job, gemm, tile_buffers_, tiles_, in_pool_, read_plan_, wanted,
                    progress),
        sender_(device_, job, tile_buffers_, tiles_, out_pool_, write_plan_, wanted.observe),
        reads_(deepened(job.reads, place.options, read_plan_)),
        writes_(
            deepened(choose_writes(place.options, device_.facts(), job.workers, file, write_plan_),
                     place.options, write_plan_)),
        reader_({job.files.begin(), job.files.end()}, read_plan_, in_pool_,
                make_engine(place.options, reads_, in_pool_, in_pool_.size(), wanted.abandon),
                reads_.block_bytes, reads_.direct),
        writer_({&file}, write_plan_, out_pool_, make_engine(place.options, writes_, out_pool_),
                writes_.block_bytes, writes_.direct),
        read_reporter_(TraceEvent::Kind::read, in_pool_.size(), wanted.observe),
        write_reporter_(TraceEvent::Kind::write, out_pool_.size(), wanted.observe) {
    reader_.set_observer(read_reporter_);
    writer_.set_observer(write_reporter_);
  }

  /// `note`: see run_product().
  void run(const std::function<void(std::uint64_t tiles)>& note) {
    const auto note_tiles = [&] {
      if (note) note(write_plan_.entries_before(writer_.chunks_done()));
    };
    try {
      run_threads(note_tiles);
      note_tiles();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) note_tiles();
      throw;
    }
  }

  void describe(Stats& stats) const {
    stats.outcome.bytes =
        reader_.bytes_done();  // total of all passes over the files, so `passes` is 1
    stats.outcome.bytes_written = writer_.bytes_done();
    stats.layout.chunks = read_plan_.size();
    stats.layout.slots = in_pool_.size() + out_pool_.size();
    stats.layout.pool_bytes = in_pool_.memory().size() + out_pool_.memory().size();
    if (!device_.reads_host_memory()) {
      stats.layout.device_bytes = device_.device_memory().peak_bytes();
    }
    describe_ways(job_, reads_, reader_.engine(), writes_, writer_.engine(), stats);
    stats.outcome.retries = reader_.retries();
    stats.timing.disk = {.busy = reader_.seconds_busy(), .waits_out = reader_.seconds_waiting()};
    stats.timing.h2d = {.busy = multiplier_.loader().copy_seconds(),
                        .waits_in = multiplier_.loader().wait_seconds()};
    stats.timing.kernel = {.busy = multiplier_.product_seconds()};
    stats.timing.d2h = {.busy = sender_.copies().copy_seconds(),
                        .waits_out = sender_.copies().wait_seconds()};
    stats.timing.write = {.busy = writer_.seconds_busy(), .waits_in = writer_.seconds_waiting()};
  }

  std::uint64_t link_bytes() const {
    return multiplier_.loader().link_bytes() + sender_.link_bytes();
  }

 private:
  const Tiling& tiling() const { return job_.schedule.tiling; }

  void run_threads(const std::function<void()>& note_tiles) {
    const std::size_t tiles = tiling().row_tiles * tiling().column_tiles - job_.schedule.tiles_done;
    const std::uint64_t before = progress_.bytes;  // read and written for earlier blocks
    PassThreads threads({&in_pool_, &out_pool_, &tiles_});
    threads.start([this] { multiplier_.run(); });
    threads.start([this, tiles] { sender_.run(tiles); });
    threads.start([this] { writer_.run(); });
    threads.start([this] {
      const auto is_stopped = [this] { return wanted_.stop.stop_requested(); };
      reader_.run([&] { return is_stopped() ? 0 : read_plan_.size(); });
      if (is_stopped()) in_pool_.end_at(0);  // the multiplier may be waiting for a piece
    });
    threads.join([&] {
      progress_.bytes = before + reader_.bytes_done() + writer_.bytes_done();
      progress_.in_flight = reader_.in_flight() + writer_.in_flight();
      note_tiles();
    });
  }

  Device& device_;
  const ProductJob& job_;
  const PassOptions& wanted_;
  ProductProgress& progress_;
  RegionPlan read_plan_, write_plan_;
  ChunkPool in_pool_, out_pool_;
  // Tile t is in buffer t % c_buffers, which is empty when tile t - c_buffers has been sent.
  Turns tiles_;
  std::vector<TileBuffer> tile_buffers_;
  Multiplier multiplier_;
  TileSender sender_;
  IoConfig reads_, writes_;
  Reader reader_;
  Writer writer_;
  TransferReporter read_reporter_, write_reporter_;
};

}  // namespace

Error interrupted() {
  return {ErrorKind::interrupted, "interrupted; nothing was written"};
}

std::uint64_t run_product(const Workplace& place, const ProductJob& job, gemm::Gemm& gemm,
                          TargetFile& file, const PassOptions& wanted, Stats& stats,
                          ProductProgress& progress,
                          const std::function<void(std::uint64_t tiles)>& note) {
  const Clock::time_point start = Clock::now();
  ProductRun product(place, job, gemm, file, wanted, progress);
  stats.timing.startup_seconds += seconds_since(start);
  product.run(note);
  product.describe(stats);
  return product.link_bytes();
}

}  // namespace ooc::detail::product
