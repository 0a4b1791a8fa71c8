#include "matmul/plan/tilings.hpp"

#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "matmul/plan/cost.hpp"

namespace ooc::detail::product {

namespace {

constexpr std::uint64_t few_parts = 16;     // numbers of parts up to this are all tried
constexpr std::uint64_t least_rows = 256;   // rows of a panel, if they fit in memory
constexpr std::uint64_t least_inner = 512;  // inner elements of a panel, with C resident
constexpr std::uint64_t thin_inner = 8;     // below this, use one buffer instead of two
constexpr double most_planned = 4e6;        // steps: their schedule takes about 1 GB of host memory

/// Returns the largest whole number that is at most `value` and at most `most`; 0 if there is none.
std::uint64_t at_most(double value, std::uint64_t most) {
  if (!(value >= 1)) return 0;
  return value >= as_double(most) ? most : static_cast<std::uint64_t>(value);
}

/// A division of elements into `parts` parts of equal size, except for the last.
struct Cut {
  std::uint64_t size, parts;
};

Cut cut_into(std::uint64_t total, std::uint64_t parts) {
  const std::uint64_t size = divide_up(total, parts);
  return {size, divide_up(total, size)};
}

/// Returns divisions of `total` into at least `fewest` parts that are worth trying.
std::vector<Cut> cuts_from(std::uint64_t total, std::uint64_t fewest) {
  std::vector<Cut> cuts;
  for (const std::uint64_t parts : {fewest, fewest + 1, fewest + 2, fewest + fewest / 8,
                                    fewest + fewest / 4, fewest + fewest / 2, 2 * fewest}) {
    const Cut cut = cut_into(total, std::min(parts, total));
    const auto same = [&](const Cut& other) { return other.parts == cut.parts; };
    if (std::ranges::none_of(cuts, same)) cuts.push_back(cut);
  }
  return cuts;
}

template <class T>
void sort_and_remove_repeated(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Returns divisions that are worth trying if parts of about `middle` elements are best: few large
/// parts, many small parts, and some around the middle.
std::vector<Cut> cuts_around(std::uint64_t total, double middle) {
  std::vector<std::uint64_t> parts;
  for (std::uint64_t i = 1; i <= few_parts; ++i) {
    parts.push_back(std::min(i, total));
    parts.push_back(divide_up(total, i));
  }
  for (int eighths = -16; eighths <= 8; ++eighths) {
    const std::uint64_t size = at_most(middle * std::exp2(eighths / 8.0), total);
    if (size != 0) parts.push_back(divide_up(total, size));
  }
  sort_and_remove_repeated(parts);
  std::vector<Cut> cuts;
  cuts.reserve(parts.size());
  for (const std::uint64_t count : parts) cuts.push_back(cut_into(total, count));
  return cuts;
}

/// Returns a value, its half, its quarter and so on, down to `least`.
std::vector<std::uint64_t> halves(std::uint64_t value, std::uint64_t least) {
  std::vector<std::uint64_t> values{value};
  while (values.back() / 2 >= least) values.push_back(values.back() / 2);
  return values;
}

/// Returns the matrix that stays on the device while other panels pass: preferably an operand.
Resident resident_in(const Tiling& tiling) {
  const std::uint64_t inner_tiles = tiling.inner_tiles;
  if (tiling.b_buffers >= tiling.column_tiles * inner_tiles) return Resident::b;
  if (tiling.a_buffers >= tiling.row_tiles * inner_tiles) return Resident::a;
  if (tiling.a_buffers >= inner_tiles && tiling.group_rows == 1) return Resident::a;
  return tiling.b_buffers >= inner_tiles ? Resident::b : Resident::c;
}

/// Generates tilings of one problem.
class Candidates {
 public:
  Candidates(const Problem& problem, const Limits& limits)
      : problem_(problem),
        device_bytes_(as_double(limits.device_bytes)),
        cache_bytes_(limits.cache_bytes),
        operand_bytes_(as_double(problem.operand_bytes)),
        product_bytes_(as_double(problem.product_bytes)) {}

  /// Adds tilings with B resident: first the columns are cut such that panels of B just fit beside
  /// one row of A and of C; then the rows are cut such that they fit the remaining memory.
  void add_resident_b() {
    const double row_bytes = as_double(problem_.inner) * operand_bytes_;
    for (const std::size_t b_buffers : {1, 2}) {
      const std::uint64_t widest =
          at_most((device_bytes_ - row_bytes) / (as_double(b_buffers) * row_bytes + product_bytes_),
                  problem_.columns);
      if (widest == 0) return;
      for (const Cut columns : cuts_from(problem_.columns, divide_up(problem_.columns, widest))) {
        if (columns.parts < b_buffers) continue;
        bool fits = false;
        for (const std::size_t a_buffers : {3, 2}) {
          fits |= add_rows_for(columns,
                               {.a_buffers = a_buffers, .b_buffers = b_buffers, .c_buffers = 2});
        }
        if (!fits) {
          add_rows_for(columns, {.a_buffers = 1, .b_buffers = b_buffers, .c_buffers = 1});
        }
      }
    }
  }

  /// Adds tilings with C resident: first C is cut into tiles that just fit beside panels with one
  /// inner element; then `inner` is cut such that the panels fit in the remaining memory.
  void add_resident_c() {
    const double middle = std::sqrt(device_bytes_ / product_bytes_);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;  // of tiles
    for (const Cut rows : cuts_around(problem_.rows, middle)) {
      for (const Cut columns : cuts_beside(rows.size, problem_.columns)) {
        sizes.emplace_back(rows.size, columns.size);
      }
    }
    for (const Cut columns : cuts_around(problem_.columns, middle)) {
      for (const Cut rows : cuts_beside(columns.size, problem_.rows)) {
        sizes.emplace_back(rows.size, columns.size);
      }
    }
    sort_and_remove_repeated(sizes);
    for (const auto& [rows, columns] : sizes) add_tiles_of(rows, columns);
  }

  std::vector<Tiling> take() { return std::move(tilings_); }

 private:
  /// Returns divisions of `total`, one dimension of C, given the other dimension of its tiles.
  std::vector<Cut> cuts_beside(std::uint64_t side, std::uint64_t total) const {
    const std::uint64_t longest = at_most((device_bytes_ - as_double(side) * operand_bytes_) /
                                              (as_double(side) * product_bytes_ + operand_bytes_),
                                          total);
    if (longest == 0) return {};
    return cuts_from(total, divide_up(total, longest));
  }

  /// Returns false if not even one row fits.
  bool add_rows_for(Cut columns, Tiling tiling) {
    const double row_bytes = as_double(problem_.inner) * operand_bytes_;
    const double b_bytes = as_double(tiling.b_buffers * columns.size) * row_bytes;
    const double c_row_bytes = as_double(columns.size) * product_bytes_;
    const std::uint64_t most =
        at_most((device_bytes_ - b_bytes) / (as_double(tiling.a_buffers) * row_bytes +
                                             as_double(tiling.c_buffers) * c_row_bytes),
                problem_.rows);
    if (most == 0) return false;
    for (const std::uint64_t size : halves(most, least_rows)) {
      const Cut rows = cut_into(problem_.rows, divide_up(problem_.rows, size));
      tiling.group_rows = rows.parts;
      add(tiling, rows, columns, {problem_.inner, 1});
    }
    return true;
  }

  void add_tiles_of(std::uint64_t tile_rows, std::uint64_t tile_columns) {
    const double sides_bytes = as_double(tile_rows + tile_columns) * operand_bytes_;
    for (const std::size_t c_buffers : {2, 1}) {
      const double left = device_bytes_ - as_double(c_buffers) * as_double(tile_rows) *
                                              as_double(tile_columns) * product_bytes_;
      for (const std::size_t buffers : {2, 1}) {
        const std::uint64_t most =
            at_most(left / (as_double(buffers) * sides_bytes), problem_.inner);
        if (most == 0) continue;
        for (const std::uint64_t size : halves(most, least_inner)) {
          add_groups({.a_buffers = buffers, .b_buffers = buffers, .c_buffers = c_buffers},
                     {tile_rows, divide_up(problem_.rows, tile_rows)},
                     {tile_columns, divide_up(problem_.columns, tile_columns)},
                     cut_into(problem_.inner, divide_up(problem_.inner, size)));
        }
        if (most >= std::min(thin_inner, problem_.inner)) break;
      }
    }
  }

  /// Adds tilings with groups of one row, of all rows, and of as many rows as the cache can hold of
  /// A's panels beside a column of B's.
  void add_groups(Tiling tiling, Cut rows, Cut columns, Cut inner) {
    const std::uint64_t entry_bytes =
        std::max(rows.size, columns.size) * inner.size * problem_.file_bytes;
    const std::uint64_t in_cache = cache_bytes_ / entry_bytes / inner.parts;
    std::vector<std::uint64_t> groups{1};
    if (rows.parts > 1) groups.push_back(rows.parts);
    if (in_cache > 2 && in_cache <= rows.parts) groups.push_back(in_cache - 1);
    for (const std::uint64_t group : groups) {
      tiling.group_rows = cut_into(rows.parts, divide_up(rows.parts, group)).size;
      add(tiling, rows, columns, inner);
    }
  }

  void add(Tiling tiling, Cut rows, Cut columns, Cut inner) {
    const double tiles = as_double(rows.parts) * as_double(columns.parts);
    if (tiles * as_double(inner.parts) > most_planned) return;
    tiling.tile_rows = rows.size;
    tiling.row_tiles = rows.parts;
    tiling.tile_columns = columns.size;
    tiling.column_tiles = columns.parts;
    tiling.tile_inner = inner.size;
    tiling.inner_tiles = inner.parts;
    // Do not use more buffers than there are panels and tiles.
    tiling.a_buffers = std::min<std::size_t>(tiling.a_buffers, rows.parts * inner.parts);
    tiling.b_buffers = std::min<std::size_t>(tiling.b_buffers, columns.parts * inner.parts);
    tiling.c_buffers = std::min<std::size_t>(tiling.c_buffers, rows.parts * columns.parts);
    if (columns.parts > 1) keep_all(tiling, tiling.a_buffers, rows.parts * inner.parts);
    if (rows.parts > 1) keep_all(tiling, tiling.b_buffers, columns.parts * inner.parts);
    tiling.resident = resident_in(tiling);
    tilings_.push_back(tiling);
  }

  /// Gives an operand with few panels a buffer for each, if there is memory for them.
  void keep_all(Tiling& tiling, std::size_t& buffers, std::uint64_t panels) const {
    const std::size_t before = buffers;
    if (panels <= few_parts) buffers = panels;
    if (device_bytes(problem_, tiling) > device_bytes_) buffers = before;
  }

  const Problem& problem_;
  double device_bytes_;
  std::uint64_t cache_bytes_;
  double operand_bytes_, product_bytes_;
  std::vector<Tiling> tilings_;
};

/// Returns the tiling of B' A' (transposed) as one of A B: panels of A are resident instead of
/// those of B.
Tiling transposed(Tiling tiling) {
  std::swap(tiling.tile_rows, tiling.tile_columns);
  std::swap(tiling.row_tiles, tiling.column_tiles);
  std::swap(tiling.a_buffers, tiling.b_buffers);
  tiling.group_rows = 1;
  tiling.resident = resident_in(tiling);
  return tiling;
}

}  // namespace

std::vector<Tiling> candidate_tilings(const Problem& problem, const Limits& limits) {
  Candidates candidates(problem, limits);
  candidates.add_resident_b();
  candidates.add_resident_c();
  std::vector<Tiling> tilings = candidates.take();

  Problem exchanged = problem;
  std::swap(exchanged.rows, exchanged.columns);
  Candidates mirrored(exchanged, limits);
  mirrored.add_resident_b();
  std::ranges::transform(mirrored.take(), std::back_inserter(tilings), transposed);
  return tilings;
}

}  // namespace ooc::detail::product
