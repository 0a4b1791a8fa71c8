#include "pass/loading.hpp"

#include <algorithm>
#include <numeric>
#include <ooc/detail/dataset/source_access.hpp>

#include "sizing/dry_run_pass.hpp"

namespace ooc::detail {

namespace {

std::vector<const File*> files_to_read(std::span<const PassInput> inputs) {
  std::vector<const File*> files;
  for (const PassInput& input : inputs) {
    for (const File& file : files_of(input.source)) files.push_back(&file);
  }
  return files;
}

std::vector<const EncodedArray*> encoded_arrays(std::span<const PassInput> inputs) {
  std::vector<const EncodedArray*> arrays;
  for (const File* const file : files_to_read(inputs)) {
    if (file->encoded() != nullptr) arrays.push_back(file->encoded());
  }
  std::ranges::sort(arrays);
  const auto again = std::ranges::unique(arrays);
  arrays.erase(again.begin(), again.end());
  return arrays;
}

}  // namespace

Loading::Loading(const Options& options, const PassOptions& wanted, const Layout& layout,
                 std::span<const PassInput> inputs, ChunkPool& pool, bool reads_ahead)
    : config_(layout.reads),
      encoded_(encoded_arrays(inputs)),
      before_(decoding()),
      reporter_(TraceEvent::Kind::read, pool.size(), wanted.observe, layout.slots),
      limit_(pool, reads_ahead ? layout.slots_ahead : 0, layout.slots) {
  if (is_produced(inputs)) {
    const auto& [source, record, decoding, resident] = inputs.front();
    // Elements are not divided either, even if an operator reads their bytes.
    const std::size_t whole = std::lcm(record.bytes, source.element_bytes());
    producer_.emplace(*SourceAccess::producer(source), pool, layout.plan.chunk_bytes(), whole,
                      wanted.stop);
    producer_->set_observer(reporter_);
    return;
  }
  const std::vector<const File*> files = files_to_read(inputs);
  if (layout.reads_inline) {
    inline_.emplace(files, layout.plan, pool, config_, layout.lanes, wanted);
    return;
  }
  IoConfig config = config_;
  if (layout.tuned_depth) config.queue_depth = layout.tuned_depth->most;
  reader_.emplace(files, layout.plan, pool,
                  make_engine(options, config, pool, layout.most_slots, wanted.abandon),
                  config_.block_bytes, config_.direct);
  reader_->set_observer(reporter_);
  if (layout.tuned_depth) tune(layout, *layout.tuned_depth);
}

std::uint64_t Loading::bytes_done() const noexcept {
  if (producer_) return producer_->bytes_done();
  return reader_ ? reader_->bytes_done() : inline_->bytes_done();
}

std::size_t Loading::in_flight() const noexcept {
  if (producer_) return 0;  // a producer may be silent for any time
  return reader_ ? reader_->in_flight() : inline_->in_flight();
}

/// Returns the work of all encoded arrays so far, in this pass and in others.
EncodedArray::Work Loading::decoding() const noexcept {
  EncodedArray::Work all;
  for (const EncodedArray* const array : encoded_) {
    const EncodedArray::Work work = array->work();
    all.stored_bytes += work.stored_bytes;
    all.seconds += work.seconds;
  }
  return all;
}

void Loading::describe(Stats& stats) const {
  const EncodedArray::Work work = decoding();
  stats.outcome.stored_bytes = work.stored_bytes - before_.stored_bytes;
  const std::size_t readers = inline_ ? stats.layout.streams : config_.threads;
  stats.timing.decode.busy =
      (work.seconds - before_.seconds) / static_cast<double>(std::max<std::size_t>(readers, 1));
  if (producer_) {
    stats.layout.threads = stats.layout.streams + 1;
    stats.layout.is_produced = true;
    stats.timing.disk.busy = producer_->seconds_busy();
    stats.timing.disk.waits_out = producer_->seconds_waiting();
    return;
  }
  describe_readers(inline_ ? nullptr : &reader_->engine(), config_, stats);
  if (inline_) {
    stats.timing.disk.busy = inline_->seconds_busy() / static_cast<double>(stats.layout.streams);
    return;
  }
  stats.timing.disk.busy = reader_->seconds_busy();
  stats.timing.disk.waits_out = reader_->seconds_waiting();
  stats.outcome.retries = reader_->retries();
  if (tuner_ && tuner_->best() != first_depth_) {
    stats.layout.queue_depth = tuner_->best();
    stats.layout.reasons.push_back(
        {.what = ReasonKind::queue_depth, .figures = {tuner_->best(), first_depth_}});
  }
}

std::optional<std::size_t> Loading::best_depth() const {
  return tuner_ ? std::optional(tuner_->best()) : std::nullopt;
}

void Loading::tune(const Layout& layout, TunedDepth depth) {
  const Engine& engine = reader_->engine();
  if (engine.depth() < depth.most) return;  // an engine of the caller may take fewer
  // A request that no thread has taken up is not in flight.
  const std::size_t most = engine.name() == "threads" ? config_.threads : depth.most;
  first_depth_ = depth.first;
  tuner_.emplace(config_.queue_depth, depth.least, most, config_.block_bytes);
  const std::size_t others = layout.slots - chunks_read(layout, config_.queue_depth);
  reader_->set_tuner(*tuner_, [this, &layout, others](std::size_t reads) {
    limit_.set(others + chunks_read(layout, reads));
  });
}

}  // namespace ooc::detail
