#include "sizing/reading.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <utility>

namespace ooc::detail {

namespace {

constexpr std::size_t small_partition_bytes = 1 * MiB;  // of operators without a partial for each
constexpr std::size_t waiting_chunk_bytes = 16 * MiB;   // where a step waits for the one before
constexpr std::size_t resident_step_bytes = 256 * MiB;  // of which a GPU reads 10,000 a second
constexpr double enough_for_lanes_to_read = 0.9;        // so that hardly a lane waits for the disk

Error too_many_runs(std::size_t runs) {
  return {ErrorKind::usage,
          "direct reads are not possible: a chunk lies in " + std::to_string(runs) + " pieces",
          {.why = "each takes a request of its own, and room for what lies around it",
           .remedies = {{RemedyAction::unset, "Options::direct"},
                        {RemedyAction::lower, "Options::chunk_bytes"}}}};
}

/// True if the blocks at both ends of each run are at most an eighth of a chunk. Half a MiB of them
/// is always allowed: it costs little memory.
bool reads_few_runs(const SequentialPlan& plan) {
  const std::size_t around = Reader::slack_bytes(plan.max_runs(), true);
  return around <= std::max<std::uint64_t>(plan.max_bytes() / 8, 512 * KiB);
}

}  // namespace

bool could_read_both_ways(const Facts& facts, const Options& options) {
  return !facts.source.runs.empty() && can_mix_reads(options, facts.source);
}

Reading choose_reading(const Facts& facts, const Wishes& wishes) {
  const auto& [options, workers, needs, best_depth] = wishes;
  const double cached = facts.source.cached_or_none();
  const std::uint64_t resident_bytes = needs.resident * needs.bytes();
  const bool is_resident = resident_bytes != 0 && resident_bytes >= facts.source.bytes();
  const bool both_ways =
      could_read_both_ways(facts, options) && !needs.in_order && needs.resident == 0;
  const bool lanes_may_read = facts.device.uses_host_cores && facts.outputs.empty() &&
                              !facts.source.is_produced && facts.source.server.empty() &&
                              options.engine == EngineKind::automatic && !options.make_engine &&
                              options.threads <= workers.reading_lanes;  // else some are left
  const bool one_thread = lanes_may_read && options.threads == 1 && workers.reading_lanes == 1;
  IoConfig config =
      both_ways ? choose_mixed_read_config(options, facts.device, workers, cached)
      : one_thread && options.direct == DirectIo::automatic && facts.source.piece_bytes == 0
          ? through_page_cache(options, facts.device, workers, false,
                               "one thread reads and computes, and the kernel reads ahead of it")
          : choose_read_config(options, facts.device, workers, facts.source);
  // A processor decodes more slowly than disks read, so lanes may as well do both.
  const bool lanes_suffice =
      is_resident || cached >= enough_for_lanes_to_read || facts.source.needs_threads;
  const bool reads_inline = one_thread || (lanes_may_read && !config.direct && lanes_suffice);
  // A larger step of partitions would have more partials alive, and of a map more buffers.
  const bool is_cut = needs.partition * needs.bytes() > small_partition_bytes;
  if (is_resident && !facts.device.reads_host_memory && facts.outputs.empty() && !is_cut) {
    config.chunk_bytes = resident_step_bytes;
    config.why_chunk = ReasonKind::chunk_for_kernels;
  }
  const bool waits = needs.waits && !facts.outputs.empty() && !facts.device.uses_host_cores;
  if (waits && config.why_chunk == ReasonKind::chunk_for_link) {
    config.chunk_bytes = std::max(config.chunk_bytes, waiting_chunk_bytes);
  }
  if (reads_inline) {
    return {std::move(config), is_resident,           both_ways,
            reads_inline,      workers.reading_lanes, workers.why_reading_lanes};
  }
  std::size_t lanes = workers.lanes;
  ReasonKind why_lanes = workers.why_lanes;
  if (needs.lending && !facts.device.reads_host_memory) {
    lanes *= 2;  // each has one buffer
  } else if (options.streams == 0 && !facts.device.uses_host_cores) {
    ++lanes;  // kernels that take as long as copies, or wait for each other, need one more
    why_lanes = ReasonKind::three_streams;
  }
  return {std::move(config), is_resident, both_ways, reads_inline, lanes, why_lanes};
}

IoConfig reads_of(const SequentialPlan& plan, const Facts& facts, const Wishes& wishes,
                  IoConfig config) {
  if (config.direct && !reads_few_runs(plan)) {
    if (wishes.options.direct == DirectIo::yes) throw too_many_runs(plan.max_runs());
    config = through_page_cache(wishes.options, facts.device, wishes.workers, false,
                                "the input lies in many small pieces");
  }
  const std::size_t piece_bytes = plan.chunk_bytes();
  if (piece_bytes != 0) config.block_bytes = std::min(config.block_bytes, piece_bytes);
  return config;
}

}  // namespace ooc::detail
