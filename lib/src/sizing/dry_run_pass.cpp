#include "sizing/dry_run_pass.hpp"

#include <ooc/device.hpp>
#include <ooc/dry_run_pass.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <memory>

namespace ooc {

namespace {

/// Makes an engine with one entry, which costs little: only a try shows whether the kernel allows
/// an io_uring.
std::unique_ptr<Engine> tried_engine(const IoConfig& config) {
  return make_engine(
      EngineOptions{.writes = config.writes, .kind = config.engine, .depth = 1, .threads = 0});
}

}  // namespace

Options bounded(Options options) {
  // No machine has more, and no sum or product of such numbers overflows.
  constexpr std::size_t most_bytes = std::size_t{1} << 44, most_at_once = std::size_t{1} << 16;
  for (std::size_t* bytes : {&options.chunk_bytes, &options.block_bytes}) {
    *bytes = std::min(*bytes, most_bytes);
  }
  for (std::size_t* count : {&options.queue_depth, &options.threads, &options.streams}) {
    *count = std::min(*count, most_at_once);
  }
  // A pool takes tens of megabytes unless it is limited. A container may have less.
  constexpr std::uint64_t ample_bytes = 256 * MiB;
  if (options.memory_bytes == 0) {
    const std::uint64_t available = available_host_bytes();
    if (available < ample_bytes) options.memory_bytes = std::max<std::uint64_t>(available / 2, 1);
  }
  return options;
}

Facts measure_facts(const DeviceFacts& device, bool device_starts, const Source& source,
                    const Output* output) {
  Facts facts{.device = device,
              .device_starts = device_starts,
              .host_bytes = device_starts ? available_host_bytes() : 0,
              .source = facts_of(source),
              .output = {}};
  if (output != nullptr) {
    facts.output = facts_of(output->file, output->file.data_offset(), output->element_bytes);
  }
  return facts;
}

Stats describe_layout(const Facts& facts, const Layout& layout) {
  Stats stats;
  stats.layout.direct = layout.reads.direct;
  stats.layout.reasons = layout.reasons;
  stats.layout.why_chunk = layout.why_chunk;
  stats.layout.why_streams = {.what = layout.why_lanes};
  stats.layout.page_cache_fraction = facts.source.cached;
  stats.layout.hole_fraction = facts.source.holes;
  stats.layout.in_order = layout.interleaving == nullptr;
  stats.layout.chunk_bytes = layout.chunk_bytes;
  stats.layout.chunks = layout.plan.steps();
  stats.layout.streams = layout.lanes;
  stats.layout.block_bytes = layout.reads.block_bytes;
  stats.layout.queue_depth = layout.reads.queue_depth;
  stats.layout.read_ahead_bytes =
      std::min(layout.slots_ahead * layout.plan.chunk_bytes(), layout.plan.bytes());
  return stats;
}

void describe_notes(const Engine& engine, Stats& stats) {
  if (!engine.note().empty()) stats.layout.reasons.push_back({Choice::engine, engine.note()});
  if (!engine.remark().empty()) stats.outcome.remarks.push_back(engine.remark());
}

void describe_readers(const Engine* engine, const IoConfig& config, Stats& stats) {
  if (engine == nullptr) {
    stats.layout.engine = "threads";
    stats.layout.threads = stats.layout.streams;
    stats.layout.queue_depth = stats.layout.streams;
    stats.layout.reads_inline = true;
    return;
  }
  stats.layout.engine = engine->name();
  stats.layout.threads =
      stats.layout.streams + (stats.layout.engine == "threads" ? config.threads : 1);
  describe_notes(*engine, stats);
}

Stats dry_run_pass(const Options& given, DeviceKind kind, const Source& source,
                   std::size_t element_bytes, const Output* output, const PassOptions& wanted) {
  const Options options = bounded(given);
  const DeviceFacts device = facts_of(kind);
  const bool device_starts = !device.uses_host_cores;
  const Facts facts = measure_facts(device, device_starts, source, output);
  const Layout layout =
      choose_layout(facts, {.options = options,
                            .workers = choose_workers(options, device),
                            .records = {.bytes = element_bytes, .in_order = wanted.checksum}});
  Stats stats = describe_layout(facts, layout);
  stats.outcome.bytes = source.bytes();
  stats.layout.slots = layout.all_slots();
  stats.layout.pool_bytes = stats.layout.slots * layout.slot_bytes;
  if (layout.plan.size() == 0) return stats;
  if (layout.writes) stats.outcome.bytes_written = layout.writes->plan.bytes();
  if (!device.reads_host_memory) stats.layout.device_bytes = layout.buffer_bytes();
  const std::unique_ptr<Engine> reads = layout.reads_inline ? nullptr : tried_engine(layout.reads);
  describe_readers(reads.get(), layout.reads, stats);
  if (layout.writes) describe_notes(*tried_engine(layout.writes->config), stats);
  return stats;
}

}  // namespace ooc
