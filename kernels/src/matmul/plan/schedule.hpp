#pragma once

#include <ooc/detail/sizing/typical_rates.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ooc::detail::product {

/// C (rows x columns) = A (rows x inner) B (inner x columns).
struct Problem {
  std::uint64_t rows, columns, inner;
  std::size_t file_bytes;     // of an element of A and B in the files, and over the link
  std::size_t operand_bytes;  // of an element of A or B on the device, where it may be converted
  std::size_t product_bytes;  // of an element of C

  /// Number of multiplications of two elements.
  double products() const {
    return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner);
  }
};

struct Limits {
  std::uint64_t device_bytes;     // for panels of A and B and tiles of C
  std::uint64_t cache_bytes;      // host memory for panels that are read again; 0: no cache
  std::uint64_t given_bytes = 0;  // all device memory, including that for other purposes
  bool is_host_memory = false;    // device_bytes is the host memory that the pools leave

  /// Returns the size of the fast memory for traffic_bound().
  std::uint64_t fast_bytes() const { return std::max(device_bytes, given_bytes); }
};

/// Rates of the machine, per second: bytes, and floating-point operations.
struct Rates {
  double read = typical::disk;
  double link = typical::link;  // in each direction
  double write = typical::disk;
  double flops = typical::gpu_flops;
  double row_seconds = 1e-6;  // seconds to request one row of a panel
};

enum class Operand : std::uint8_t { a, b };
enum class Resident : std::uint8_t { a, b, c };

/// The sizes of tiles and panels, and the order in which the tiles of C are computed. A panel of A
/// has tile_rows x tile_inner elements, a panel of B tile_inner x tile_columns, and a tile of C
/// tile_rows x tile_columns; the last of each may be smaller.
///
///   resident b   panels of B, one or a column of several that cover `inner`, stay while those of A
///                pass. Best if a few columns of tiles cover B: A is read once for each.
///   resident a   the same with A and B exchanged, for a smaller A. Rows of A are contiguous in its
///                file, columns of B are not, so B stays if both have the same size.
///   resident c   a tile of C stays while panels pass along `inner`. Best if both operands are far
///                larger than the device: a tile of p x p elements takes 2 / p loaded elements for
///                each multiplication, while panels that cover `inner` get narrower the longer it
///                is.
///
/// All three use the same order: groups of rows of tiles; in a group, column after column; in a
/// column, row after row. Directions alternate between forwards and backwards, so that the panels
/// used last, which are still on the device, are used first. One group of all rows keeps B, groups
/// of one row keep A. With a tile of C resident, a group has about as many rows as the panel cache
/// can hold rows of A's panels: these are then read once, and B once per group.
///
/// With two buffers of an operand, its next panel is loaded during a product; with two of C, a tile
/// is sent during the next one. An operand that fits has a buffer for each of its panels.
struct Tiling {
  Resident resident = Resident::b;
  std::uint64_t tile_rows = 0, tile_columns = 0, tile_inner = 0;
  std::uint64_t row_tiles = 0, column_tiles = 0, inner_tiles = 0;  // number of each
  std::uint64_t group_rows = 1;  // rows of tiles that are computed together
  std::size_t a_buffers = 0, b_buffers = 0, c_buffers = 0;  // on the device
  std::size_t cache_entries = 0;                            // in host memory
  std::uint64_t cache_entry_bytes = 0;
};

/// Cost of a tiling: payload bytes, and seconds at given rates.
struct Cost {
  std::uint64_t device_bytes = 0;
  std::uint64_t link_in_bytes = 0, link_out_bytes = 0;
  std::uint64_t read_bytes = 0, write_bytes = 0;
  /// True if the bytes read and written are within traffic_bound() for panel cache and device
  /// memory together. (Bytes over the link are always within the bound for device memory alone.)
  ///
  /// A cache of H elements can achieve that in two ways. Either it holds a whole operand. Or it
  /// holds P rows of A and a column of B's panels that is Q wide, (P + Q) inner <= H. Then A is
  /// read once and B rows / P times, which is within the bound if P is about sqrt(H) / 4 or more.
  bool cache_serves = false;
  double flops = 0;
  double seconds = 0;
};

inline constexpr std::int32_t none = -1;

/// Loads a panel into a buffer on the device before step `step`, the first that needs it. The panel
/// comes from entry `from` of the cache. If `from` is none, it comes from the file and, unless
/// `keep` is none, is also copied to entry `keep`.
struct Load {
  std::uint64_t step;
  Operand operand;
  std::uint64_t row, column;  // of the panel, in the grid of panels
  std::uint32_t buffer;
  std::int32_t from = none;
  std::int32_t keep = none;
};

/// One product on the device: panel (row, inner) of A times panel (inner, column) of B, added to
/// tile (row, column) of C, or assigned to it if inner is 0. The steps of a tile are consecutive.
struct Step {
  std::uint64_t row, column, inner;
  std::uint32_t a_buffer, b_buffer, c_buffer;
};

/// All operations of a product in order, known before it starts. Loads are sorted by step.
struct Schedule {
  Tiling tiling;
  Cost cost;
  std::uint64_t tiles_done = 0;  // tiles of the tiling that were computed before the first step
  std::vector<Step> steps;
  std::vector<Load> loads;
};

/// Number of elements of part `index` if `total` elements are cut into parts of `size`.
constexpr std::uint64_t part_size(std::uint64_t total, std::uint64_t size, std::uint64_t index) {
  return std::min(size, total - index * size);
}

/// Returns twice the lower bound on the bytes that must cross the link to a fast memory of
/// `fast_bytes` (V), plus C once: 2 e max(mk + kn, 2mnk / sqrt(V/e)) + mn e, where e is the size of
/// the widest element of the three. The lower bound is from T. M. Smith and others, arXiv
/// 1702.02017.
double traffic_bound(const Problem& problem, double fast_bytes);

/// Returns the schedule of the fastest tiling at these rates whose bytes over the link are within
/// the bound. Tilings whose cache serves (Cost::cache_serves) come before faster ones. Of the 16
/// tilings with the best estimates, schedules are made until one is within the bound; then those of
/// other tilings that may be faster.
/// Without rows, columns or inner elements the schedule is empty. Throws Error(memory), with the
/// sizes, if no tiling fits: device memory for 16 of the widest elements is enough for every
/// product that takes at most four million steps.
Schedule make_schedule(const Problem& problem, const Limits& limits, const Rates& rates);

/// Returns the rest of a schedule, after the first `tiles_done` tiles of C. If its buffers do not
/// fit, uses fewer of them. Throws Error(memory) if the tiles do not fit.
Schedule rest_of_schedule(const Problem& problem, const Limits& limits, const Rates& rates,
                          const Tiling& tiling, std::uint64_t tiles_done);

/// Returns the number of elements of C in the first `tiles` tiles, in the order of a schedule.
std::uint64_t elements_in(const Problem& problem, const Tiling& tiling, std::uint64_t tiles);

}  // namespace ooc::detail::product
