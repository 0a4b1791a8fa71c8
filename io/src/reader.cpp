#include <ooc/io/error.hpp>
#include <ooc/io/file.hpp>
#include <ooc/io/reader.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <cassert>

namespace ooc {

Reader::Reader(std::span<const File> files, const Plan& plan, ChunkPool& pool, Engine& engine,
               std::size_t block_bytes, bool direct)
    : files_(files),
      plan_(plan),
      pool_(pool),
      engine_(engine),
      block_bytes_(round_up(std::max<std::size_t>(block_bytes, 1), page_bytes)),
      direct_(direct),
      extents_(plan.max_extents()),
      reads_(engine.depth()),
      in_progress_(pool.size()) {
  idle_.reserve(reads_.size());
  for (Read& read : reads_) idle_.push_back(&read);
}

std::size_t Reader::slack_bytes(std::span<const File> files, std::size_t max_extents, bool direct) {
  // Each extent begins on a page of the slot. Direct reads also fetch what lies before it in its
  // first block; filling up the last block and filling up to the next page are then the same.
  const bool any_direct =
      direct && std::ranges::any_of(files, [](const File& file) { return file.direct() >= 0; });
  return max_extents * (any_direct ? 2 : 1) * page_bytes;
}

void Reader::run(const std::stop_token& stop) {
  try {
    read_chunks(stop);
  } catch (...) {
    drain();
    throw;
  }
}

/// Waits for what is in flight, whatever becomes of it: until then our requests are in use.
void Reader::drain() noexcept {
  while (engine_.in_flight() > 0) {
    try {
      engine_.wait();
    } catch (...) {
      // The error that made us stop is the one to report.
    }
  }
}

void Reader::read_chunks(const std::stop_token& stop) {
  Chunk* complete = nullptr;  // read, but its lane does not know yet
  for (;;) {
    start_requests(stop);
    // Only now: to wake a lane takes the kernel longer than to start a read, and the disk would
    // wait for it.
    if (complete != nullptr) pool_.publish(*complete);
    complete = nullptr;
    if (engine_.in_flight() > 0) {
      complete = finish(static_cast<Read&>(engine_.wait()));
    } else if (!wait_for_next_chunk(stop)) {
      break;
    }
  }
  if (next_ < plan_.size()) pool_.end_at(next_);
}

/// Starts all that the engine and the pool have room for now.
void Reader::start_requests(const std::stop_token& stop) {
  while (engine_.in_flight() < engine_.depth()) {
    if (remainder_.memory == nullptr) {
      if (next_ == plan_.size() || stop.stop_requested()) return;
      if (!pool_.ready(next_, Stage::empty)) return;
      begin(*pool_.wait(next_, Stage::empty));
    }
    start_next_request();
  }
}

/// Blocks until the next chunk has a slot and begins it. False if there is none to begin.
bool Reader::wait_for_next_chunk(const std::stop_token& stop) {
  if (next_ == plan_.size() || stop.stop_requested()) return false;
  const Clock::time_point since = Clock::now();
  Chunk* const chunk = pool_.wait(next_, Stage::empty);
  seconds_without_slot_ += std::chrono::duration<double>(Clock::now() - since).count();
  if (chunk == nullptr || stop.stop_requested()) return false;
  begin(*chunk);
  return true;
}

bool Reader::reads_directly(const Extent& extent) const {
  return direct_ && files_[extent.file].direct() >= 0;
}

/// What is read to get the extent: for direct reads all blocks that it touches.
Reader::Range Reader::blocks_of(const Extent& extent) const {
  const std::uint64_t end = extent.offset + extent.bytes;
  if (!reads_directly(extent)) return {extent.offset, end};
  return {round_down(extent.offset, File::alignment()), round_up(end, File::alignment())};
}

/// Lays out the chunk in its slot: one extent after the other, each from a page on.
void Reader::begin(Chunk& chunk) {
  chunk_ = &chunk;
  remainder_ = {.extents = plan_.extents(chunk.index, extents_)};
  std::size_t place = 0;
  std::size_t requests = 0;
  for (const Extent& extent : remainder_.extents) {
    const Range blocks = blocks_of(extent);
    const std::uint64_t bytes = blocks.end - blocks.begin;
    if (place + bytes > chunk.memory.size()) {
      throw Error(Cause::internal, "a chunk is larger than its slot");
    }
    chunk.segments.push_back(
        chunk.memory.subspan(place + (extent.offset - blocks.begin), extent.bytes));
    requests += divide_up(bytes, block_bytes_);
    place += round_up(bytes, page_bytes);
  }
  in_progress_[chunk.index % pool_.size()] = {&chunk, requests};
  ++next_;
  begin_next_extent();
}

void Reader::begin_next_extent() {
  if (remainder_.next == remainder_.extents.size()) {
    remainder_ = {};
    return;
  }
  const Extent& extent = remainder_.extents[remainder_.next];
  const std::span<std::byte> segment = chunk_->segments[remainder_.next];
  remainder_.offset = blocks_of(extent).begin;
  remainder_.memory = segment.data() - (extent.offset - remainder_.offset);
}

void Reader::start_next_request() {
  const Extent& extent = remainder_.extents[remainder_.next];
  const std::uint64_t extent_end = extent.offset + extent.bytes;
  const std::uint64_t blocks_end = blocks_of(extent).end;
  const std::size_t bytes = std::min(block_bytes_, blocks_end - remainder_.offset);
  const std::uint64_t end = remainder_.offset + bytes;
  const std::uint64_t needed_end = std::min(end, extent_end);

  assert(!idle_.empty());
  Read& read = *idle_.back();
  idle_.pop_back();
  read.file = &files_[extent.file];
  read.direct = reads_directly(extent);
  read.memory = remainder_.memory;
  read.offset = remainder_.offset;
  read.bytes = bytes;
  read.needed = needed_end - remainder_.offset;
  read.payload = needed_end - std::max(remainder_.offset, extent.offset);
  read.chunk = chunk_->index;
  if (engine_.in_flight() == 0) busy_since_ = Clock::now();
  engine_.start(read);

  remainder_.offset = end;
  remainder_.memory += bytes;
  if (end == blocks_end) {
    ++remainder_.next;
    begin_next_extent();
  }
}

/// Takes in a completed request. Returns its chunk if that is complete now.
Chunk* Reader::finish(Read& read) {
  if (engine_.in_flight() == 0) {
    seconds_busy_ += std::chrono::duration<double>(Clock::now() - busy_since_).count();
  }
  bytes_read_.fetch_add(read.payload, std::memory_order_relaxed);
  idle_.push_back(&read);
  InProgress& slot = in_progress_[read.chunk % pool_.size()];
  return --slot.requests == 0 ? slot.chunk : nullptr;
}

}  // namespace ooc
