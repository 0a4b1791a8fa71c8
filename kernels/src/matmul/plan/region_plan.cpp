#include "matmul/plan/region_plan.hpp"

#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace ooc::detail::product {

namespace {

/// True if the rows of a region are contiguous in the file.
bool is_contiguous(const RegionPlan::Entry& entry) {
  return entry.region.columns == entry.matrix.columns || entry.region.rows == 1;
}

}  // namespace

RegionPlan::RegionPlan(std::vector<Entry> entries, std::size_t slot_bytes)
    : entries_(std::move(entries)), slot_bytes_(slot_bytes), first_{0} {
  assert(slot_bytes >= least_slot_bytes());
  std::uint64_t bytes = 0, extents = 0;
  for (const Entry& entry : entries_) {
    const Cut cut = cut_of(entry);
    const std::uint64_t pieces =
        divide_up(entry.region.rows, cut.rows) * divide_up(entry.region.columns, cut.columns);
    first_.push_back(first_.back() + pieces);
    if (!is_contiguous(entry)) max_extents_ = std::max<std::size_t>(max_extents_, cut.rows);
    bytes += entry.region.rows * entry.region.columns * entry.matrix.element_bytes;
    extents += is_contiguous(entry) ? pieces : pieces * cut.rows;
  }
  if (extents != 0) mean_extent_bytes_ = bytes / extents;
}

RegionPlan::Cut RegionPlan::cut_of(const Entry& entry) const {
  const Region& region = entry.region;
  const std::size_t bytes = entry.matrix.element_bytes;
  const std::uint64_t row = region.columns * bytes;
  // Leave room for a page at either end, for alignment.
  const std::uint64_t payload = slot_bytes_ - 2 * page_bytes;
  if (row > payload) return {1, payload / bytes};
  const std::uint64_t rows = is_contiguous(entry)
                                 ? payload / row
                                 : slot_bytes_ / (round_up(row, page_bytes) + 2 * page_bytes);
  return {std::clamp<std::uint64_t>(rows, 1, region.rows), region.columns};
}

std::size_t RegionPlan::index_of(std::size_t chunk) const {
  assert(chunk < size());
  return entries_before(chunk);
}

std::size_t RegionPlan::entries_before(std::size_t chunk) const {
  const auto after = std::ranges::upper_bound(first_, chunk);
  return static_cast<std::size_t>(after - first_.begin()) - 1;
}

Region RegionPlan::region(std::size_t chunk) const {
  const std::size_t index = index_of(chunk);
  const Entry& entry = entries_[index];
  const Region& whole = entry.region;
  const Cut cut = cut_of(entry);
  const std::uint64_t parts = divide_up(whole.columns, cut.columns);  // parts of a row
  const std::uint64_t piece = chunk - first_[index];
  const std::uint64_t row = piece / parts * cut.rows;
  const std::uint64_t column = piece % parts * cut.columns;
  return {.row = whole.row + row,
          .column = whole.column + column,
          .rows = std::min(cut.rows, whole.rows - row),
          .columns = std::min(cut.columns, whole.columns - column)};
}

std::span<const Extent> RegionPlan::extents(std::size_t chunk, std::span<Extent> storage) const {
  const StoredMatrix& matrix = entry_of(chunk).matrix;
  const Region piece = region(chunk);
  const std::uint64_t bytes = piece.columns * matrix.element_bytes;
  const auto offset_of = [&](std::uint64_t row) {
    return matrix.offset + row * matrix.row_bytes() + piece.column * matrix.element_bytes;
  };
  if (piece.columns == matrix.columns) {
    storage[0] = {matrix.file, offset_of(piece.row), piece.rows * bytes};
    return storage.first(1);
  }
  for (std::uint64_t i = 0; i < piece.rows; ++i) {
    storage[i] = {matrix.file, offset_of(piece.row + i), bytes};
  }
  return storage.first(piece.rows);
}

}  // namespace ooc::detail::product
