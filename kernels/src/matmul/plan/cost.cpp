#include "matmul/plan/cost.hpp"

#include <ooc/detail/base/units.hpp>

#include <algorithm>

namespace ooc::detail::product {

namespace {

// Overhead to start a product, a load, or the copy of a tile to the host.
constexpr double start_seconds = 20e-6;
constexpr double half_rate_size = 64;  // a product with a dimension this short has half the rate

double tiles_of(const Tiling& tiling) {
  return as_double(tiling.row_tiles) * as_double(tiling.column_tiles);
}

double efficiency(std::uint64_t size) {
  return as_double(size) / (as_double(size) + half_rate_size);
}

/// Floating-point operations per second of products of this size.
double flops_rate(std::uint64_t rows, std::uint64_t columns, std::uint64_t inner,
                  const Rates& rates) {
  return rates.flops * efficiency(rows) * efficiency(columns) * efficiency(inner);
}

/// Ratio of the bytes that a disk moves to the payload, since it moves whole pages: a tile that is
/// narrower than its matrix is one extent for each row.
double whole_pages(std::uint64_t width, std::uint64_t full_width, std::size_t element_bytes) {
  if (width == full_width) return 1;
  return 1 + as_double(page_bytes) / (as_double(width) * as_double(element_bytes));
}

/// Additional time for requests if each row of a panel or tile is an extent of its own.
double seconds_for_rows(double bytes, std::uint64_t width, std::uint64_t full_width,
                        std::size_t element_bytes, double row_seconds) {
  if (width == full_width) return 0;
  return bytes / (as_double(width) * as_double(element_bytes)) * row_seconds;
}

/// Seconds to read so many bytes of an operand, in rows of `width` elements.
double reading_seconds(const Problem& problem, Operand operand, double bytes, std::uint64_t width,
                       const Rates& rates) {
  const std::uint64_t full_width = operand == Operand::a ? problem.inner : problem.columns;
  return bytes * whole_pages(width, full_width, problem.file_bytes) / rates.read +
         seconds_for_rows(bytes, width, full_width, problem.file_bytes, rates.row_seconds);
}

/// Seconds to send so many bytes of C to its file, in rows of `width` elements.
double storing_seconds(const Problem& problem, double bytes, std::uint64_t width,
                       const Rates& rates) {
  const double pages = whole_pages(width, problem.columns, problem.product_bytes);
  return std::max(bytes / rates.link, bytes * pages / rates.write) +
         seconds_for_rows(bytes, width, problem.columns, problem.product_bytes, rates.row_seconds);
}

/// Seconds for which products wait for an operand after its first panel. With one buffer, they wait
/// for each whole load. With more buffers, a load overlaps with as many products as the other
/// operand has buffers, and the products wait for the rest of the load.
double stalled_seconds(const Arrivals& operand, std::size_t buffers, std::size_t other_buffers,
                       double panel_seconds, double product_seconds) {
  const double hidden = buffers == 1 ? 0 : as_double(other_buffers) * product_seconds;
  return (operand.loads - 1) * std::max(0.0, panel_seconds - hidden);
}

}  // namespace

std::uint64_t panel_bytes(const Problem& problem, const Tiling& tiling, Operand operand) {
  const std::uint64_t width = operand == Operand::a ? tiling.tile_rows : tiling.tile_columns;
  return width * tiling.tile_inner * problem.file_bytes;
}

std::uint64_t entry_bytes(const Problem& problem, const Tiling& tiling, const Traffic& traffic) {
  const double a_panels = as_double(tiling.row_tiles) * as_double(tiling.inner_tiles);
  const double b_panels = as_double(tiling.column_tiles) * as_double(tiling.inner_tiles);
  const std::uint64_t a = traffic.a.loads > a_panels ? panel_bytes(problem, tiling, Operand::a) : 0;
  const std::uint64_t b = traffic.b.loads > b_panels ? panel_bytes(problem, tiling, Operand::b) : 0;
  return std::max(a, b);
}

double device_bytes(const Problem& problem, const Tiling& tiling) {
  const double rows = as_double(tiling.tile_rows);
  const double columns = as_double(tiling.tile_columns);
  const double a_and_b = as_double(tiling.a_buffers) * rows + as_double(tiling.b_buffers) * columns;
  return a_and_b * as_double(tiling.tile_inner) * as_double(problem.operand_bytes) +
         as_double(tiling.c_buffers) * rows * columns * as_double(problem.product_bytes);
}

Traffic estimate_traffic(const Problem& problem, const Limits& limits, const Tiling& tiling) {
  const double rows = as_double(tiling.row_tiles);
  const double columns = as_double(tiling.column_tiles);
  const double inner = as_double(tiling.inner_tiles);
  const double groups = as_double(divide_up(tiling.row_tiles, tiling.group_rows));
  const double group_rows = rows / groups;
  const double file_bytes = as_double(problem.file_bytes) * as_double(problem.inner);
  const double row_bytes = file_bytes * as_double(problem.rows) / rows;           // mean, of A
  const double column_bytes = file_bytes * as_double(problem.columns) / columns;  // mean, of B

  // Number of rows of A's panels that are still in the buffers when the next column of a group
  // begins, and of columns of B's panels that are when its next row begins.
  const double rows_kept = as_double(tiling.a_buffers / tiling.inner_tiles);
  const double columns_kept = as_double(tiling.b_buffers / tiling.inner_tiles);

  // How often a row of A's panels is loaded again for another column of its group, and how often a
  // column of B's panels is loaded again for another row of the group or for another group.
  const double a_again = groups * (columns - 1) * std::max(0.0, group_rows - rows_kept);
  const double b_again = columns_kept > 0 ? 0 : columns * (rows - groups);
  const double b_for_groups = (groups - 1) * std::max(0.0, columns - columns_kept);

  Traffic traffic;
  traffic.a = {(rows + a_again) * inner, (rows + a_again) * row_bytes, 0};
  const double b_loads = columns + b_again + b_for_groups;
  traffic.b = {b_loads * inner, b_loads * column_bytes, 0};

  // Cache entries go to the panels that are needed soonest: the column of B for the next row of the
  // group, then the rows of A for its next column, then the panels of B for the next group.
  const std::uint64_t entry = entry_bytes(problem, tiling, traffic);
  double entries = entry == 0 ? 0 : as_double(limits.cache_bytes / entry);
  const auto hits = [&](double wanted) {
    const double kept = std::min(entries, wanted);
    entries -= kept;
    return wanted == 0 ? 0 : kept / wanted;
  };
  const double b_hits = b_again == 0 ? 0 : hits(inner);
  const double a_hits = a_again == 0 ? 0 : hits(group_rows * inner);
  const double group_hits = b_for_groups == 0 ? 0 : hits(columns * inner);
  traffic.a.read_bytes = traffic.a.link_bytes - a_hits * a_again * row_bytes;
  traffic.b.read_bytes = traffic.b.link_bytes - b_hits * b_again * column_bytes -
                         group_hits * b_for_groups * column_bytes;
  return traffic;
}

double multiplying_seconds(const Problem& problem, const Tiling& tiling, const Rates& rates) {
  const double flops =
      2 * as_double(problem.rows) * as_double(problem.columns) * as_double(problem.inner);
  const double rate = flops_rate(tiling.tile_rows, tiling.tile_columns, tiling.tile_inner, rates);
  const double products = tiles_of(tiling) * as_double(tiling.inner_tiles);
  return flops / rate + products * start_seconds;
}

double load_seconds(const Problem& problem, Operand operand, std::uint64_t rows,
                    std::uint64_t columns, bool from_file, const Rates& rates) {
  const double bytes = as_double(rows) * as_double(columns) * as_double(problem.file_bytes);
  const double reading = from_file ? reading_seconds(problem, operand, bytes, columns, rates) : 0;
  return std::max(bytes / rates.link, reading) + start_seconds;
}

double product_seconds(std::uint64_t rows, std::uint64_t columns, std::uint64_t inner,
                       const Rates& rates) {
  const double flops = 2 * as_double(rows) * as_double(columns) * as_double(inner);
  return flops / flops_rate(rows, columns, inner, rates) + start_seconds;
}

double send_seconds(const Problem& problem, std::uint64_t rows, std::uint64_t columns,
                    const Rates& rates) {
  const double bytes = as_double(rows) * as_double(columns) * as_double(problem.product_bytes);
  return storing_seconds(problem, bytes, columns, rates) + start_seconds;
}

double estimate_seconds(const Problem& problem, const Tiling& tiling, const Traffic& traffic,
                        const Rates& rates) {
  const double tiles = tiles_of(tiling);
  const double multiplying = multiplying_seconds(problem, tiling, rates);

  const auto reading_a = [&](double bytes) {
    return reading_seconds(problem, Operand::a, bytes, tiling.tile_inner, rates);
  };
  const auto reading_b = [&](double bytes) {
    return reading_seconds(problem, Operand::b, bytes, tiling.tile_columns, rates);
  };
  const double loading =
      std::max(traffic.link_bytes() / rates.link,
               reading_a(traffic.a.read_bytes) + reading_b(traffic.b.read_bytes)) +
      (traffic.a.loads + traffic.b.loads) * start_seconds;
  const double c_bytes =
      as_double(problem.rows) * as_double(problem.columns) * as_double(problem.product_bytes);
  const double storing =
      storing_seconds(problem, c_bytes, tiling.tile_columns, rates) + tiles * start_seconds;

  // Parts that cannot overlap: the first two panels are loaded before the first product, and the
  // last tile is sent after the last product; with one tile buffer, every tile is sent before the
  // next begins.
  const double a_panel = as_double(panel_bytes(problem, tiling, Operand::a));
  const double b_panel = as_double(panel_bytes(problem, tiling, Operand::b));
  const double load_rate = traffic.link_bytes() / loading;
  const double first =
      std::max((a_panel + b_panel) / rates.link, reading_a(a_panel) + reading_b(b_panel));
  const double last = storing / tiles;
  const double product = multiplying / (tiles * as_double(tiling.inner_tiles));
  const double stalled =
      stalled_seconds(traffic.a, tiling.a_buffers, tiling.b_buffers, a_panel / load_rate, product) +
      stalled_seconds(traffic.b, tiling.b_buffers, tiling.a_buffers, b_panel / load_rate, product) +
      (tiling.c_buffers == 1 ? storing - last : 0);
  return std::max({first + multiplying + stalled + last, loading + product + last,
                   first + multiplying / tiles + storing});
}

}  // namespace ooc::detail::product
