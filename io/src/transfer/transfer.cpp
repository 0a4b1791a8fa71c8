#include <ooc/detail/base/units.hpp>
#include <ooc/detail/transfer/transfer.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace ooc::detail {

Transfer::Transfer(const Plan& plan, ChunkPool& pool, std::unique_ptr<Engine> engine,
                   std::size_t block_bytes)
    : plan_(plan),
      pool_(pool),
      block_bytes_(round_up(std::max<std::size_t>(block_bytes, 1), page_bytes)),
      most_in_flight_(engine->depth()),
      extents_(plan.max_extents()),
      parts_(engine->depth()),
      in_progress_(pool.size()),
      engine_(std::move(engine)) {
  runs_.reserve(extents_.size());
  idle_.reserve(parts_.size());
  for (Part& part : parts_) idle_.push_back(&part);
}

void Transfer::set_tuner(QueueTuner& tuner, std::function<void(std::size_t depth)> changed,
                         std::function<QueueTuner::Clock::time_point()> now) {
  assert(tuner.wanted() <= engine_->depth());
  tuner_ = &tuner;
  depth_changed_ = std::move(changed);
  now_ = std::move(now);
  most_in_flight_ = tuner.wanted();
}

void Transfer::transfer_chunks(const EndOfChunks& end) {
  try {
    run(end);
  } catch (...) {
    drain();
    throw;
  }
}

void Transfer::transfer_chunk(Chunk& chunk, std::size_t slot) {
  try {
    begin(chunk, slot);
    for (bool through = false; !through;) {
      while (!all_started() && engine_->in_flight() < engine_->depth()) {
        start_next_request();
      }
      through = finish(static_cast<Part&>(engine_->wait())) != nullptr;
    }
  } catch (...) {
    drain();
    throw;
  }
}

/// Waits for all requests in flight and ignores their errors: until then `parts_` are in use.
void Transfer::drain() noexcept {
  while (const std::size_t before = engine_->in_flight()) {
    try {
      engine_->wait();
    } catch (...) {
      // The error that ended the transfer is the one to report.
      if (engine_->in_flight() == before) return;  // none will complete
    }
  }
}

void Transfer::run(const EndOfChunks& end) {
  if (tuner_ != nullptr) tuner_->follow(now_());
  Chunk* through = nullptr;  // complete, but not passed on yet
  for (;;) {
    const bool slot_is_missing = start_requests(end);
    // Only now: waking a thread takes the kernel longer than starting a request, and the disk would
    // be idle for that time.
    if (through != nullptr) complete(*through);
    through = nullptr;
    if (engine_->in_flight() > 0) {
      through = finish(static_cast<Part&>(wait_for_request(end, slot_is_missing)));
    } else if (!wait_for_next_chunk(end)) {
      return;
    }
  }
}

/// Waits for the next completed request. If only the lack of a slot keeps the next chunk from being
/// begun, polls for a slot first, at growing intervals. Virtual disks complete many requests at
/// once, and most of the slots of these become free right after that. The disk would have few
/// requests until the next completion if this function slept until then.
Request& Transfer::wait_for_request(const EndOfChunks& end, bool slot_is_missing) {
  constexpr std::chrono::microseconds first_look{50}, last_look{2000};
  for (auto patience = first_look; slot_is_missing && patience < last_look;) {
    if (Request* const request = engine_->wait_for(patience)) return *request;
    const std::size_t before = next_;
    slot_is_missing = start_requests(end);
    patience = next_ == before ? 2 * patience : first_look;
  }
  return engine_->wait();
}

/// Starts as many requests as the engine and the pool have room for, without blocking, because
/// other threads may need the completed chunk to go on. Returns true if only the lack of a slot for
/// the next chunk keeps another request from being started.
bool Transfer::start_requests(const EndOfChunks& end) {
  while (engine_->in_flight() < most_in_flight_) {
    if (all_started()) {
      if (next_ >= end() || !plan_.has(next_)) return false;
      Chunk* const chunk = try_take(next_);
      if (chunk == nullptr) return true;
      begin_next_chunk(*chunk);
      continue;  // it may have no extents
    }
    start_next_request();
  }
  return false;
}

/// Blocks until the next chunk can be transferred, and begins it. Returns false if there is none.
bool Transfer::wait_for_next_chunk(const EndOfChunks& end) {
  if (next_ >= end() || !plan_.has(next_)) return false;
  const Clock::time_point since = Clock::now();
  Chunk* const chunk = take(next_);
  seconds_waiting_ += std::chrono::duration<double>(Clock::now() - since).count();
  if (chunk == nullptr) return false;
  begin_next_chunk(*chunk);
  return true;
}

void Transfer::begin_next_chunk(Chunk& chunk) {
  ++next_;
  begin(chunk, pool_.slot_of(chunk));
  if (!all_started()) return;
  if (observer_ != nullptr) observer_->completed(slot_, chunk.index, 0);
  complete(chunk);  // it has no extents
}

void Transfer::begin(Chunk& chunk, std::size_t slot) {
  assert(slot < in_progress_.size());
  if (observer_ != nullptr) observer_->begun(slot, chunk.index);
  chunk_ = &chunk;
  slot_ = slot;
  runs_.clear();
  run_ = 0;
  lay_out(chunk, plan_.extents(chunk.index, extents_), runs_);
  in_progress_[slot] = {.chunk = &chunk, .all_started = all_started()};
}

void Transfer::start_next_request() {
  Run& run = runs_[run_];
  const std::uint64_t end = end_of_request(run);
  const std::uint64_t payload_end = std::min(end, run.payload_end);

  assert(!idle_.empty());
  Part& part = *idle_.back();
  idle_.pop_back();
  part.memory = run.memory;
  part.offset = run.begin;
  part.bytes = end - run.begin;
  part.needed = payload_end - run.begin;
  part.payload = payload_end - std::max(run.begin, run.payload_begin);
  part.chunk = chunk_->index;
  part.slot = slot_;
  prepare(part, run);
  if (engine_->in_flight() == 0) busy_since_ = Clock::now();
  ++in_progress_[slot_].requests;
  engine_->start(part);
  in_flight_.store(engine_->in_flight(), std::memory_order_relaxed);

  run.memory += part.bytes;
  run.begin = end;
  if (run.begin != run.end) return;
  ++run_;
  in_progress_[slot_].all_started = all_started();
}

/// Processes a completed request. Returns its chunk if that is complete now, else null.
Chunk* Transfer::finish(Part& part) {
  if (engine_->in_flight() == 0) {
    seconds_busy_ += std::chrono::duration<double>(Clock::now() - busy_since_).count();
  }
  in_flight_.store(engine_->in_flight(), std::memory_order_relaxed);
  bytes_done_.fetch_add(part.payload, std::memory_order_relaxed);
  retries_ += part.retries;
  idle_.push_back(&part);
  if (tuner_ != nullptr) tune(part.payload);
  InProgress& progress = in_progress_[part.slot];
  progress.payload_bytes += part.payload;
  if (--progress.requests != 0 || !progress.all_started) return nullptr;
  if (observer_ != nullptr) observer_->completed(part.slot, part.chunk, progress.payload_bytes);
  return progress.chunk;
}

void Transfer::tune(std::size_t payload_bytes) {
  tuner_->complete(payload_bytes, now_());
  if (tuner_->wanted() == most_in_flight_) return;
  most_in_flight_ = tuner_->wanted();
  depth_changed_(most_in_flight_);
  tuner_->follow(now_());
}

}  // namespace ooc::detail
