// An input is a list of extents, the size of the chunks, and the cached pieces. The chunks must
// have every byte once, in the order of the sequence or in that of a ChunkOrder.

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/pool/plan.hpp>

#include <memory>
#include <vector>

#include "input.hpp"

namespace ooc::detail::fuzz {
namespace {

constexpr std::size_t most_checked = 200;  // of the chunks at either end

std::vector<Extent> take_sequence(Numbers& numbers) {
  std::vector<Extent> sequence(numbers.between(0, 20));
  std::uint64_t left = UINT64_MAX;  // a source has fewer than 2^64 bytes
  for (Extent& extent : sequence) {
    extent.file = static_cast<std::uint32_t>(numbers.between(0, 3));
    extent.bytes = numbers.of_any_size(left);
    extent.offset = numbers.of_any_size(UINT64_MAX - extent.bytes);
    left -= extent.bytes;
  }
  return sequence;
}

/// Takes any size of chunks, or one that makes few chunks.
std::uint64_t take_chunk_bytes(Numbers& numbers, std::uint64_t total) {
  const bool few = numbers.between(0, 1) == 1;
  const std::uint64_t any = numbers.of_any_size();
  const std::uint64_t chunk = few ? total / (1 + any % most_checked) : any;
  return std::max<std::uint64_t>(chunk, 1);
}

std::shared_ptr<const ChunkOrder> take_order(Numbers& numbers, std::uint64_t pieces) {
  if (pieces > most_checked || numbers.between(0, 1) == 0) return nullptr;
  std::vector<bool> cached(pieces);
  for (std::size_t i = 0; i < cached.size(); ++i) cached[i] = numbers.between(0, 1) == 1;
  return std::make_shared<const ChunkOrder>(ChunkOrder::by_turns(std::move(cached)));
}

/// Checks that every piece comes once, and that the pieces of each kind keep their order.
void check_order(const ChunkOrder& order) {
  std::vector<bool> seen(order.size());
  std::vector<std::size_t> next{0, 0};  // of each kind, no piece before this one is left
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t piece = order.piece(k);
    require(piece < seen.size() && !seen[piece], "every piece has one turn");
    seen[piece] = true;
    std::size_t& least = next[order.is_cached(piece) ? 1 : 0];
    require(piece >= least, "pieces of a kind keep their order");
    least = piece + 1;
  }
}

/// Adds an extent, as a part of the last one if it follows that in the file.
void add_joined(const Extent& extent, std::vector<Extent>& extents) {
  if (!extents.empty() && extents.back().file == extent.file &&
      extents.back().offset + extents.back().bytes == extent.offset) {
    extents.back().bytes += extent.bytes;
  } else {
    extents.push_back({extent.file, extent.offset, extent.bytes});
  }
}

/// Checks that the extents of a chunk are its bytes of the sequence, and as few as there can be.
/// Returns the number of extents.
std::size_t check_chunk(const SequentialPlan& plan, const std::vector<Extent>& sequence,
                        std::size_t chunk) {
  std::vector<Extent> storage(plan.max_extents());
  const std::span<const Extent> found = plan.extents(chunk, storage);
  const std::uint64_t end = plan.chunk(chunk).first + plan.bytes(chunk);
  std::uint64_t position = 0;  // where in the sequence an extent begins
  std::vector<Extent> expected;
  for (const Extent& whole : sequence) {
    const std::uint64_t from = std::max(position, plan.chunk(chunk).first);
    const std::uint64_t to = std::min(position + whole.bytes, end);
    if (from < to) {
      add_joined({whole.file, whole.offset + (from - position), to - from}, expected);
    }
    position += whole.bytes;
  }
  require(!expected.empty() && found.size() == expected.size(), "no extent is left out or added");
  for (std::size_t i = 0; i < found.size(); ++i) {
    require(found[i].file == expected[i].file && found[i].offset == expected[i].offset &&
                found[i].bytes == expected[i].bytes,
            "an extent is what the chunk has of those of the sequence");
  }
  return found.size();
}

void check_plan(const SequentialPlan& plan, const std::vector<Extent>& sequence,
                std::uint64_t chunk_bytes, const ChunkOrder* order) {
  std::uint64_t bytes = 0;
  std::size_t most = 0;
  const bool all = plan.size() <= 2 * most_checked;
  for (std::size_t k = 0; k < plan.size(); ++k) {
    if (!all && k == most_checked) k = plan.size() - most_checked;
    const std::uint64_t piece = order != nullptr ? order->piece(k) : k;
    require(plan.chunk(k).first == piece * chunk_bytes, "chunks are cut where they should be");
    require(plan.bytes(k) == std::min(chunk_bytes, plan.bytes() - plan.chunk(k).first),
            "and are full");
    bytes += plan.bytes(k);
    most = std::max(most, check_chunk(plan, sequence, k));
  }
  if (all) require(bytes == plan.bytes(), "every byte once");
  if (all) require(most == plan.max_extents(), "max_extents() is what some chunk has");
}

}  // namespace
}  // namespace ooc::detail::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc;
  using namespace ooc::detail;
  fuzz::Numbers numbers({data, size});
  const std::vector<Extent> sequence = fuzz::take_sequence(numbers);
  std::uint64_t total = 0;
  for (const Extent& extent : sequence) total += extent.bytes;
  const std::uint64_t chunk_bytes = fuzz::take_chunk_bytes(numbers, total);
  const auto order = fuzz::take_order(numbers, divide_up(total, chunk_bytes));
  if (order) fuzz::check_order(*order);

  const SequentialPlan plan(sequence, chunk_bytes, order);
  fuzz::require(plan.bytes() == total, "a plan has the bytes of its sequence");
  fuzz::require(plan.size() == divide_up(total, chunk_bytes), "and no chunk too many");
  fuzz::check_plan(plan, sequence, chunk_bytes, order.get());
  return 0;
}
