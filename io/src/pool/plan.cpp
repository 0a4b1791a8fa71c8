#include <ooc/detail/pool/plan.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace ooc {
namespace {

/// Returns the largest number of extents of a chunk. Only chunks in which an extent begins or ends
/// can have several, so this takes time for each extent, not for each chunk.
std::size_t most_extents_in_a_chunk(std::span<const std::uint64_t> ends,
                                    std::uint64_t chunk_bytes) {
  std::size_t most = 0;
  std::size_t count = 0;  // extents of `current_chunk` so far
  std::uint64_t current_chunk = 0;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    const std::uint64_t first_chunk = begin / chunk_bytes;
    const std::uint64_t last_chunk = (end - 1) / chunk_bytes;
    count = first_chunk == current_chunk ? count + 1 : 1;
    most = std::max(most, count);
    if (last_chunk != first_chunk) count = 1;
    current_chunk = last_chunk;
    begin = end;
  }
  return most;
}

}  // namespace

double Interleaving::disk_share(double of_the_whole) noexcept {
  constexpr double least = 1.0 / 8;
  return std::clamp(of_the_whole, least, 1 - least);
}

Interleaving::Interleaving(std::vector<bool> cached) : cached_(std::move(cached)) {
  const auto count = static_cast<double>(std::ranges::count(cached_, false));
  const double share =
      disk_share(count / static_cast<double>(std::max(cached_.size(), std::size_t{1})));
  order_.reserve(cached_.size());
  const auto next = [this](std::size_t from, bool kind) {
    while (from < cached_.size() && cached_[from] != kind) ++from;
    return from;
  };
  std::size_t on_disk = next(0, false), in_cache = next(0, true);
  double due = 0;  // uncached pieces that are due by now, less those taken
  while (order_.size() < cached_.size()) {
    due += share;
    const bool disk = in_cache == cached_.size() || (on_disk < cached_.size() && due >= 1);
    std::size_t& taken = disk ? on_disk : in_cache;
    if (disk) due -= 1;
    order_.push_back(static_cast<std::uint32_t>(taken));
    taken = next(taken + 1, !disk);
  }
}

SequentialPlan::SequentialPlan(std::span<const Extent> sequence, std::uint64_t chunk_bytes,
                               std::shared_ptr<const Interleaving> interleaving,
                               std::size_t pieces_per_step)
    : chunk_bytes_(chunk_bytes),
      interleaving_(std::move(interleaving)),
      pieces_per_step_(pieces_per_step) {
  if (chunk_bytes == 0) throw Error(ErrorKind::usage, "a chunk has at least one byte");
  std::uint64_t end = 0;
  for (const Extent& extent : sequence) {
    if (extent.bytes == 0) continue;
    end += extent.bytes;
    sequence_.push_back(extent);
    ends_.push_back(end);
  }
  chunks_ = divide_up(end, chunk_bytes);
  max_extents_ = most_extents_in_a_chunk(ends_, chunk_bytes);
  assert(!interleaving_ || (interleaving_->pieces() == chunks_ && pieces_per_step == 1));
}

std::size_t SequentialPlan::steps() const noexcept {
  return divide_up(chunks_, pieces_per_step_);
}

std::uint64_t SequentialPlan::step_bytes(std::size_t step) const noexcept {
  if (pieces_per_step_ == 1) return bytes(step);
  return std::min(chunk_bytes_ * pieces_per_step_, bytes() - step_begin(step));
}

std::uint64_t SequentialPlan::bytes(std::size_t chunk) const noexcept {
  assert(chunk < chunks_);
  return std::min(chunk_bytes_, bytes() - begin(chunk));
}

std::span<const Extent> SequentialPlan::extents(std::size_t chunk,
                                                std::span<Extent> storage) const {
  assert(chunk < chunks_ && storage.size() >= max_extents_);
  const std::uint64_t chunk_end = begin(chunk) + bytes(chunk);
  std::uint64_t position = begin(chunk);
  const auto first = std::ranges::upper_bound(ends_, position);
  auto i = static_cast<std::size_t>(first - ends_.begin());
  std::size_t count = 0;
  const bool cached = interleaving_ && interleaving_->is_cached(piece(chunk));
  while (position < chunk_end) {
    const Extent& whole = sequence_[i];
    const std::uint64_t skipped = position - (ends_[i] - whole.bytes);
    const std::uint64_t end = std::min(ends_[i], chunk_end);
    storage[count++] = {whole.file, whole.offset + skipped, end - position, cached};
    position = end;
    ++i;
  }
  return storage.first(count);
}

}  // namespace ooc
