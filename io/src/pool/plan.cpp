#include <ooc/detail/base/units.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

namespace ooc::detail {
namespace {

/// Sorts extents as a Reader does, and returns the number of runs of neighbours among them.
std::size_t count_runs(std::vector<Extent>& extents) {
  std::ranges::sort(extents, {},
                    [](const Extent& one) { return std::tuple(one.file, one.offset, one.bytes); });
  std::size_t runs = extents.empty() ? 0 : 1;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const Extent& last = extents[i - 1];
    runs += last.file != extents[i].file || last.offset + last.bytes != extents[i].offset;
  }
  return runs;
}

}  // namespace

double ChunkOrder::disk_share(double of_the_whole) noexcept {
  constexpr double least = 1.0 / 8;
  return std::clamp(of_the_whole, least, 1 - least);
}

ChunkOrder ChunkOrder::by_turns(std::vector<bool> cached) {
  const std::size_t pieces = cached.size();
  const auto count = static_cast<double>(std::ranges::count(cached, false));
  const double share = disk_share(count / static_cast<double>(std::max(pieces, std::size_t{1})));
  const auto next = [&](std::size_t from, bool kind) {
    while (from < pieces && cached[from] != kind) ++from;
    return from;
  };
  std::vector<std::uint32_t> order;
  order.reserve(pieces);
  std::size_t on_disk = next(0, false), in_cache = next(0, true);
  double due = 0;  // uncached pieces that are due by now, less those taken
  while (order.size() < pieces) {
    due += share;
    const bool disk = in_cache == pieces || (on_disk < pieces && due >= 1);
    std::size_t& taken = disk ? on_disk : in_cache;
    if (disk) due -= 1;
    order.push_back(static_cast<std::uint32_t>(taken));
    taken = next(taken + 1, !disk);
  }
  ChunkOrder by_turns;
  by_turns.cached_ = std::move(cached);
  by_turns.order_ = std::move(order);
  return by_turns;
}

ChunkOrder ChunkOrder::sample(std::size_t pieces, std::optional<std::uint64_t> shuffle_seed,
                              std::size_t shard, std::size_t shards, std::size_t skip) {
  ChunkOrder sample;
  std::vector<std::uint32_t>& order = sample.order_;
  order.resize(pieces);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  if (shuffle_seed) {
    // Fisher and Yates. std::shuffle() has another order in another standard library.
    std::mt19937_64 random(*shuffle_seed);
    for (std::size_t left = pieces; left > 1; --left) {
      const auto scaled = static_cast<unsigned __int128>(random()) * left;
      std::swap(order[left - 1], order[static_cast<std::size_t>(scaled >> 64)]);
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = shard; i < pieces; i += shards) {
    order[kept++] = order[i];
    if (shards >= pieces - i) break;  // the sum might overflow
  }
  order.resize(kept);
  order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(skip, kept)));
  return sample;
}

SequentialPlan::SequentialPlan(StorageMap input, std::uint64_t chunk_bytes,
                               std::shared_ptr<const ChunkOrder> order, std::size_t pieces_per_step)
    : SequentialPlan({{std::move(input)}}, {.chunk_records = chunk_bytes,
                                            .order = std::move(order),
                                            .pieces_per_step = pieces_per_step}) {}

SequentialPlan::SequentialPlan(std::vector<InputStorage> inputs, Cut cut)
    : cut_(std::move(cut)), inputs_(std::move(inputs)), records_(cut_.records) {
  assert(inputs_.size() == cut_.record_bytes.size());
  if (cut_.chunk_records == 0) throw Error(ErrorKind::usage, "a chunk has at least one record");
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const std::uint64_t records = inputs_[i].map.bytes() / record_bytes(i);
    assert(i == 0 || records == records_);
    records_ = records;
    record_bytes_ += record_bytes(i);
  }
  cut_.before = std::min(cut_.before, records_);
  cut_.after = std::min(cut_.after, records_);
  for (std::size_t i = 0; i < inputs_.size(); ++i) count_extents(i);
  chunks_ = divide_up(records_, cut_.chunk_records);
  planned_records_ = records_;
  assert(!cut_.share || !cut_.order);
  if (cut_.share &&
      cut_.share->block_records() % (cut_.chunk_records * cut_.pieces_per_step) != 0) {
    throw Error(ErrorKind::internal, "a block of shared data is not whole steps");
  }
  if (!cut_.order) return;
  assert(cut_.pieces_per_step == 1 && cut_.before == 0 && cut_.after == 0);
  assert(cut_.order->size() <= chunks_);
  chunks_ = cut_.order->size();
  planned_records_ = 0;
  for (std::size_t i = 0; i < chunks_; ++i) planned_records_ += chunk(i).count;
}

std::size_t SequentialPlan::steps() const noexcept {
  return divide_up(chunks_, cut_.pieces_per_step);
}

std::size_t SequentialPlan::end_piece(std::size_t step) const noexcept {
  return first_piece(step) +
         static_cast<std::size_t>(divide_up(this->step(step).count, cut_.chunk_records));
}

RecordRange SequentialPlan::step(std::size_t step) const noexcept {
  if (cut_.pieces_per_step == 1) return chunk(step);
  const std::uint64_t first = first_record(step * cut_.pieces_per_step);
  return {first, std::min(cut_.chunk_records * cut_.pieces_per_step, records_ - first)};
}

RecordRange SequentialPlan::chunk(std::size_t chunk) const noexcept {
  const std::uint64_t first = first_record(chunk);
  return {first, std::min(cut_.chunk_records, records_ - first)};
}

std::uint64_t SequentialPlan::first_record(std::size_t chunk) const noexcept {
  assert(chunk < chunks_);
  if (cut_.share) return cut_.share->place(chunk * cut_.chunk_records);
  return (cut_.order ? cut_.order->piece(chunk) : chunk) * cut_.chunk_records;
}

RecordRange SequentialPlan::chunk_read(std::size_t chunk) const noexcept {
  return read_for(this->chunk(chunk));
}

RecordRange SequentialPlan::read_for(RecordRange chunk) const noexcept {
  const RecordRange wide = with_margin(chunk);
  const std::uint64_t step_records = cut_.chunk_records * cut_.pieces_per_step;
  const bool is_first = chunk.first % step_records == 0;
  const bool is_last = chunk.end() % step_records == 0 || chunk.end() == records_;
  const std::uint64_t first = is_first ? wide.first : chunk.first;
  return {first, (is_last ? wide.end() : chunk.end()) - first};
}

RecordRange SequentialPlan::with_margin(RecordRange records) const noexcept {
  const std::uint64_t first = records.first - std::min(cut_.before, records.first);
  const std::uint64_t end = records.end() + std::min(cut_.after, records_ - records.end());
  return {first, end - first};
}

/// Returns the largest number of records that are read for `pieces` chunks of a step.
std::uint64_t SequentialPlan::most_read(std::size_t pieces) const noexcept {
  return std::min(cut_.chunk_records * pieces + cut_.before + cut_.after, records_);
}

/// Adds the most extents and runs that a chunk has of an input. A chunk has several extents only if
/// one of them ends in it, so this takes time for these chunks only.
void SequentialPlan::count_extents(std::size_t input) {
  const StorageMap& map = inputs_[input].map;
  const std::uint64_t bytes = record_bytes(input);
  std::size_t most_extents = map.empty() ? 0 : 1, most_runs = most_extents;
  std::vector<Extent> extents;
  std::uint64_t next = 0;  // the first chunk that has not been looked at
  for (std::size_t i = 0; i + 1 < map.size(); ++i) {
    const std::uint64_t record = map.end_of(i) / bytes;
    const std::uint64_t first = (record - std::min(record, cut_.after)) / cut_.chunk_records;
    const std::uint64_t last = std::min(record + cut_.before, records_ - 1) / cut_.chunk_records;
    for (next = std::max(next, first); next <= last; ++next) {
      const std::uint64_t begin = next * cut_.chunk_records;
      const auto [from, count] = read_for({begin, std::min(cut_.chunk_records, records_ - begin)});
      extents.clear();
      for (const Extent& extent : map.section(from * bytes, count * bytes)) {
        extents.push_back(extent);
      }
      most_extents = std::max(most_extents, extents.size());
      most_runs = std::max(most_runs, count_runs(extents));
    }
  }
  max_extents_ += most_extents;
  max_runs_ += most_runs;
}

std::span<const Extent> SequentialPlan::extents(std::size_t chunk,
                                                std::span<Extent> storage) const {
  assert(storage.size() >= max_extents_);
  if (is_resident(chunk / cut_.pieces_per_step)) return {};
  const RecordRange records = chunk_read(chunk);
  const bool cached = cut_.order && cut_.order->is_cached(cut_.order->piece(chunk));
  std::size_t count = 0;
  for (std::uint32_t k = 0; k < inputs_.size(); ++k) {
    const auto& [map, first_file] = inputs_[k];
    const std::uint64_t bytes = record_bytes(k);
    for (const Extent& part : map.section(records.first * bytes, records.count * bytes)) {
      storage[count++] = {first_file + part.file, part.offset, part.bytes, cached, k};
    }
  }
  return storage.first(count);
}

}  // namespace ooc::detail
