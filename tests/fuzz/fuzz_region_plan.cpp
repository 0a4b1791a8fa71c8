// An input is a matrix in a file, a rectangle of it, and the size of a slot. The pieces must fit in
// slots and follow each other row by row, so that each element is in one piece.

#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <vector>

#include "input.hpp"
#include "matmul/plan/region_plan.hpp"

namespace ooc::detail::fuzz {
namespace {

using product::Region;
using product::RegionPlan;
using product::StoredMatrix;

constexpr std::size_t most_checked = 200;  // of the chunks at either end

/// Takes a matrix of fewer than 2^62 bytes, and a rectangle of it that is not empty.
RegionPlan::Entry take_entry(Numbers& numbers) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;
  StoredMatrix matrix;
  matrix.file = static_cast<std::uint32_t>(numbers.between(0, 3));
  matrix.offset = numbers.of_any_size(most_bytes);
  matrix.element_bytes = std::size_t{1} << numbers.between(0, 3);
  matrix.columns = 1 + numbers.of_any_size(most_bytes / matrix.element_bytes - 1);
  const std::uint64_t rows = 1 + numbers.of_any_size(most_bytes / matrix.row_bytes() - 1);
  Region region;
  region.row = numbers.of_any_size(rows - 1);
  region.rows = 1 + numbers.of_any_size(rows - region.row - 1);
  const bool whole_rows = numbers.between(0, 1) == 1;
  region.column = whole_rows ? 0 : numbers.of_any_size(matrix.columns - 1);
  const std::uint64_t most_columns = matrix.columns - region.column;
  region.columns = whole_rows ? most_columns : 1 + numbers.of_any_size(most_columns - 1);
  return {matrix, region};
}

/// Checks that the extents are the elements of the piece in its order, and that they fit in a slot,
/// where each begins on a page of its own and has room for the blocks of direct reads.
void check_extents(std::span<const Extent> extents, const StoredMatrix& matrix, const Region& piece,
                   std::size_t slot_bytes) {
  const std::uint64_t row_bytes = piece.columns * matrix.element_bytes;
  std::uint64_t taken = 0, bytes = 0;
  for (const Extent& extent : extents) {
    require(extent.file == matrix.file, "the file of the matrix");
    const std::uint64_t row = piece.row + bytes / row_bytes;
    require(extent.offset ==
                matrix.offset + row * matrix.row_bytes() + piece.column * matrix.element_bytes,
            "an extent begins where its rows do");
    require(extent.bytes % row_bytes == 0, "it has whole rows of the piece");
    require(extent.bytes == row_bytes || piece.columns == matrix.columns, "and no gap");
    taken +=
        round_up(extent.offset + extent.bytes, page_bytes) - round_down(extent.offset, page_bytes);
    bytes += extent.bytes;
  }
  require(bytes == piece.rows * row_bytes, "all elements of the piece");
  require(taken <= slot_bytes, "a piece fits in a slot");
}

/// Returns where the piece after this one begins. `whole` is cut from left to right, then down.
Region after(const Region& piece, const Region& whole) {
  const bool row_ends = piece.column + piece.columns == whole.column + whole.columns;
  return {.row = row_ends ? piece.row + piece.rows : piece.row,
          .column = row_ends ? whole.column : piece.column + piece.columns};
}

}  // namespace
}  // namespace ooc::detail::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ooc::detail::fuzz;
  Numbers numbers({data, size});
  const RegionPlan::Entry entry = take_entry(numbers);
  constexpr std::size_t most_slot_bytes = 16 * ooc::detail::MiB;
  const std::size_t slot_bytes = numbers.between(RegionPlan::least_slot_bytes(), most_slot_bytes);
  const RegionPlan plan({entry, entry}, slot_bytes);
  const std::size_t pieces = plan.size() / 2;
  require(plan.first_chunk(1) == pieces && plan.first_chunk(2) == plan.size(), "the same for both");
  require(pieces > 0, "a rectangle that is not empty has pieces");

  const Region& whole = entry.region;
  std::vector<ooc::detail::Extent> storage(plan.max_extents());
  Region next = whole;
  for (std::size_t k = 0; k < pieces; ++k) {
    if (k == most_checked && k + most_checked < pieces) {
      k = pieces - most_checked;
      next = after(plan.region(k - 1), whole);
    }
    const Region piece = plan.region(k);
    require(piece.row == next.row && piece.column == next.column, "a piece follows the one before");
    require(piece.rows > 0 && piece.columns > 0, "no piece is empty");
    require(piece.columns == whole.columns || piece.rows == 1, "whole rows, or a part of one");
    check_extents(plan.extents(k, storage), entry.matrix, piece, slot_bytes);
    next = after(piece, whole);
  }
  require(next.row == whole.row + whole.rows && next.column == whole.column, "up to the end");
  return 0;
}
