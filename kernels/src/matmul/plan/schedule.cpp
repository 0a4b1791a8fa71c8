#include "matmul/plan/schedule.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "matmul/plan/cost.hpp"
#include "matmul/plan/panel_cache.hpp"
#include "matmul/plan/tilings.hpp"
#include "matmul/plan/timeline.hpp"

namespace ooc::detail::product {

namespace {

constexpr double as_fast = 1.05;           // times that differ by a smaller factor count as equal
constexpr double faster = 0.99;            // a better choice takes less than this part of the time
constexpr double fewer = 0.98;             // or moves less than this part of the bytes
constexpr double hopeless = 1.25;          // estimates above the best by this factor are not tried
constexpr std::size_t most_attempts = 16;  // attempts to find a schedule within the bound
constexpr double most_tried = 1e5;         // steps of all schedules made to find a faster one

/// A tiling and its estimated cost.
struct CostedTiling {
  Tiling tiling;
  bool cache_serves;
  double seconds;
  double moved_bytes;  // over the link and from the files
};

/// Upper bounds on the bytes over the link, and on the bytes read and written, both including C.
struct Bounds {
  double link;   // device memory as the fast memory; also holds for the files
  double cache;  // device memory and the panel cache as the fast memory
};

Bounds bounds_of(const Problem& problem, const Limits& limits) {
  const double fast_bytes = as_double(limits.fast_bytes());
  return {traffic_bound(problem, fast_bytes),
          traffic_bound(problem, fast_bytes + as_double(limits.cache_bytes))};
}

double product_bytes(const Problem& problem) {
  return as_double(problem.rows) * as_double(problem.columns) * as_double(problem.product_bytes);
}

/// Sorts choices: first those within the bound of the cache, and among these by time. Then, among
/// the choices that are as fast as the best, within the accuracy of the estimates, puts those that
/// move the fewest bytes first.
void sort_best_first(std::vector<CostedTiling>& choices) {
  std::ranges::stable_sort(choices, [](const CostedTiling& left, const CostedTiling& right) {
    if (left.cache_serves != right.cache_serves) return left.cache_serves;
    return left.seconds < right.seconds;
  });
  if (choices.empty()) return;
  const CostedTiling best = choices.front();
  const auto slower = std::ranges::find_if(choices, [&](const CostedTiling& choice) {
    return choice.cache_serves != best.cache_serves || choice.seconds > best.seconds * as_fast;
  });
  std::ranges::stable_sort(choices.begin(), slower, {}, &CostedTiling::moved_bytes);
}

/// BLAS libraries are faster if sizes are multiples of this number. It also makes rows of tiles end
/// at page boundaries.
constexpr std::uint64_t even_size = 128;

/// Rounds up a size that is not small, unless that changes the number of parts.
std::uint64_t rounded(std::uint64_t size, std::uint64_t total, std::uint64_t parts) {
  const std::uint64_t even = round_up(size, even_size);
  const bool small = size < 8 * even_size;
  return small || even >= total || divide_up(total, even) != parts ? size : even;
}

/// Returns the tiling with sizes rounded up if it still fits, otherwise unchanged.
Tiling rounded(const Problem& problem, const Limits& limits, Tiling tiling) {
  Tiling even = tiling;
  even.tile_rows = rounded(tiling.tile_rows, problem.rows, tiling.row_tiles);
  even.tile_columns = rounded(tiling.tile_columns, problem.columns, tiling.column_tiles);
  even.tile_inner = rounded(tiling.tile_inner, problem.inner, tiling.inner_tiles);
  return device_bytes(problem, even) <= as_double(limits.device_bytes) ? even : tiling;
}

/// Returns the tilings whose traffic over the link is within the bound, best first.
std::vector<CostedTiling> choices_for(const Problem& problem, const Limits& limits,
                                      const Rates& rates) {
  const Bounds bounds = bounds_of(problem, limits);
  const double c_bytes = product_bytes(problem);
  std::vector<CostedTiling> choices;
  for (const Tiling& candidate : candidate_tilings(problem, limits)) {
    const Tiling tiling = rounded(problem, limits, candidate);
    const Traffic traffic = estimate_traffic(problem, limits, tiling);
    if (traffic.link_bytes() + c_bytes > bounds.link) continue;
    choices.push_back({tiling,
                       limits.cache_bytes != 0 && traffic.read_bytes() + c_bytes <= bounds.cache,
                       estimate_seconds(problem, tiling, traffic, rates),
                       traffic.link_bytes() + traffic.read_bytes()});
  }
  sort_best_first(choices);
  return choices;
}

std::uint64_t turned(std::uint64_t index, std::uint64_t count, bool backwards) {
  return backwards ? count - 1 - index : index;
}

/// Calls `visit(row, column)` for every tile of C, in the order that Tiling describes.
template <class Visit>
void for_each_tile(const Tiling& tiling, Visit visit) {
  bool columns_backwards = false;
  bool rows_backwards = false;
  for (std::uint64_t first = 0; first < tiling.row_tiles; first += tiling.group_rows) {
    const std::uint64_t rows = std::min(tiling.group_rows, tiling.row_tiles - first);
    for (std::uint64_t j = 0; j < tiling.column_tiles; ++j) {
      for (std::uint64_t i = 0; i < rows; ++i) {
        visit(first + turned(i, rows, rows_backwards),
              turned(j, tiling.column_tiles, columns_backwards));
      }
      rows_backwards = !rows_backwards;
    }
    columns_backwards = !columns_backwards;
  }
}

/// Makes the steps, and the loads of the panels that they need.
void make_steps(Schedule& schedule) {
  const Tiling& tiling = schedule.tiling;
  PanelBuffers a_buffers(tiling.a_buffers);
  PanelBuffers b_buffers(tiling.b_buffers);
  std::uint64_t next = 0;  // index of the next tile, of all
  schedule.steps.reserve((tiling.row_tiles * tiling.column_tiles - schedule.tiles_done) *
                         tiling.inner_tiles);
  for_each_tile(tiling, [&](std::uint64_t row, std::uint64_t column) {
    if (next++ < schedule.tiles_done) return;
    const std::uint64_t tile = next - 1 - schedule.tiles_done;
    const auto c_buffer = static_cast<std::uint32_t>(tile % tiling.c_buffers);
    for (std::uint64_t inner = 0; inner < tiling.inner_tiles; ++inner) {
      const std::uint64_t step = schedule.steps.size();
      const auto a = a_buffers.use(row * tiling.inner_tiles + inner, step);
      const auto b = b_buffers.use(inner * tiling.column_tiles + column, step);
      if (a.load) schedule.loads.push_back({step, Operand::a, row, inner, a.buffer});
      if (b.load) schedule.loads.push_back({step, Operand::b, inner, column, b.buffer});
      schedule.steps.push_back({row, column, inner, a.buffer, b.buffer, c_buffer});
    }
  });
}

Traffic count(const Problem& problem, const Tiling& tiling, const std::vector<Load>& loads) {
  Traffic traffic;
  for (const Load& load : loads) {
    const bool a = load.operand == Operand::a;
    const std::uint64_t elements =
        a ? part_size(problem.rows, tiling.tile_rows, load.row) *
                part_size(problem.inner, tiling.tile_inner, load.column)
          : part_size(problem.inner, tiling.tile_inner, load.row) *
                part_size(problem.columns, tiling.tile_columns, load.column);
    const double bytes = as_double(elements * problem.file_bytes);
    Arrivals& arrivals = a ? traffic.a : traffic.b;
    arrivals.loads += 1;
    arrivals.link_bytes += bytes;
    if (load.from == none) arrivals.read_bytes += bytes;
  }
  return traffic;
}

/// Returns the schedule of a tiling from tile `tiles_done` on, with its actual cost.
Schedule schedule_of(const Problem& problem, const Limits& limits, const Rates& rates,
                     const Tiling& tiling, std::uint64_t tiles_done = 0) {
  Schedule schedule{
      .tiling = tiling, .cost = {}, .tiles_done = tiles_done, .steps = {}, .loads = {}};
  make_steps(schedule);
  const Traffic link = count(problem, tiling, schedule.loads);
  const std::uint64_t entry = entry_bytes(problem, tiling, link);
  const std::uint64_t entries = entry == 0 ? 0 : limits.cache_bytes / entry;
  schedule.tiling.cache_entries = plan_cache(tiling, entries, schedule.loads);
  schedule.tiling.cache_entry_bytes = schedule.tiling.cache_entries == 0 ? 0 : entry;

  const Traffic traffic = count(problem, tiling, schedule.loads);
  const auto whole = [](double bytes) { return static_cast<std::uint64_t>(bytes); };
  const std::uint64_t left =
      problem.rows * problem.columns - elements_in(problem, tiling, tiles_done);
  schedule.cost = {
      .device_bytes = whole(device_bytes(problem, tiling)),
      .link_in_bytes = whole(traffic.link_bytes()),
      .link_out_bytes = left * problem.product_bytes,
      .read_bytes = whole(traffic.read_bytes()),
      .write_bytes = left * problem.product_bytes,
      .cache_serves = limits.cache_bytes != 0 && traffic.read_bytes() + product_bytes(problem) <=
                                                     bounds_of(problem, limits).cache,
      .flops = 2 * as_double(left) * as_double(problem.inner),
      .seconds = seconds_of(problem, schedule, rates)};
  return schedule;
}

/// Returns a tiling with the cost of its schedule.
CostedTiling timed(const Schedule& schedule) {
  const Cost& cost = schedule.cost;
  return {schedule.tiling, cost.cache_serves, cost.seconds,
          as_double(cost.link_in_bytes + cost.read_bytes)};
}

/// Makes schedules for the other good choices, and returns the best of these and the first. The
/// estimates are inaccurate for the start of a product, when panels of both operands are loaded.
Schedule best_of(Schedule first, const Problem& problem, const Limits& limits, const Rates& rates,
                 std::span<const CostedTiling> estimated) {
  const double link_bound = bounds_of(problem, limits).link;
  const CostedTiling estimated_best = timed(first);
  std::vector<CostedTiling> choices{estimated_best};
  double steps_left = most_tried;
  for (const CostedTiling& other : estimated.subspan(1)) {
    if (other.cache_serves != estimated.front().cache_serves) break;
    if (other.seconds > hopeless * estimated.front().seconds) break;
    const Tiling& tiling = other.tiling;
    const double steps = as_double(tiling.row_tiles) * as_double(tiling.column_tiles) *
                         as_double(tiling.inner_tiles);
    if (steps > steps_left) continue;
    steps_left -= steps;
    const Schedule schedule = schedule_of(problem, limits, rates, tiling);
    const Cost& cost = schedule.cost;
    if (as_double(cost.link_in_bytes + cost.link_out_bytes) <= link_bound) {
      choices.push_back(timed(schedule));
    }
  }
  sort_best_first(choices);
  const CostedTiling& best = choices.front();
  const bool gains = best.seconds < faster * estimated_best.seconds ||
                     best.moved_bytes < fewer * estimated_best.moved_bytes;
  return gains ? schedule_of(problem, limits, rates, best.tiling) : first;
}

std::string size_of(std::uint64_t rows, std::uint64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

Error too_little_memory(const Problem& problem, const Limits& limits) {
  return {ErrorKind::memory,
          std::to_string(limits.device_bytes) +
              (limits.is_host_memory ? " bytes of memory beside the pools"
                                     : " bytes of device memory") +
              " are too few for " + size_of(problem.rows, problem.inner) + " times " +
              size_of(problem.inner, problem.columns),
          {.why = "its tiles would be so small that the product took millions of steps, or that "
                  "panels were loaded more often than is sensible",
           .remedies = {{RemedyAction::raise, limits.is_host_memory ? "Options::memory_bytes"
                                                                    : "Options::device_bytes"}}}};
}

}  // namespace

double traffic_bound(const Problem& problem, double fast_bytes) {
  const double rows = as_double(problem.rows);
  const double columns = as_double(problem.columns);
  const double inner = as_double(problem.inner);
  const double widest =
      as_double(std::max({problem.file_bytes, problem.operand_bytes, problem.product_bytes}));
  const double once = rows * inner + inner * columns;
  const double again = 2 * rows * columns * inner / std::sqrt(fast_bytes / widest);
  return 2 * widest * std::max(once, again) + rows * columns * widest;
}

std::uint64_t elements_in(const Problem& problem, const Tiling& tiling, std::uint64_t tiles) {
  std::uint64_t elements = 0, next = 0;
  for_each_tile(tiling, [&](std::uint64_t row, std::uint64_t column) {
    if (next++ >= tiles) return;
    elements += part_size(problem.rows, tiling.tile_rows, row) *
                part_size(problem.columns, tiling.tile_columns, column);
  });
  return elements;
}

Schedule rest_of_schedule(const Problem& problem, const Limits& limits, const Rates& rates,
                          const Tiling& tiling, std::uint64_t tiles_done) {
  // With fewer buffers the schedule is slower, but the tiles are the same.
  Tiling fewer = tiling;
  for (const std::size_t most :
       {tiling.a_buffers + tiling.b_buffers + tiling.c_buffers, std::size_t{2}, std::size_t{1}}) {
    for (std::size_t* const buffers : {&fewer.a_buffers, &fewer.b_buffers, &fewer.c_buffers}) {
      *buffers = std::min(*buffers, most);
    }
    if (device_bytes(problem, fewer) > as_double(limits.device_bytes)) continue;
    return schedule_of(problem, limits, rates, fewer, tiles_done);
  }
  throw too_little_memory(problem, limits);
}

Schedule make_schedule(const Problem& problem, const Limits& limits, const Rates& rates) {
  if (problem.rows == 0 || problem.columns == 0 || problem.inner == 0) {
    Schedule empty;
    empty.cost.write_bytes = problem.rows * problem.columns * problem.product_bytes;
    return empty;
  }
  const std::vector<CostedTiling> choices = choices_for(problem, limits, rates);
  const double link_bound = bounds_of(problem, limits).link;
  std::optional<Schedule> second_best;  // its cache holds less than estimated
  for (std::size_t i = 0; i < std::min(choices.size(), most_attempts); ++i) {
    if (second_best && !choices[i].cache_serves) break;
    Schedule schedule = schedule_of(problem, limits, rates, choices[i].tiling);
    const Cost& cost = schedule.cost;
    if (as_double(cost.link_in_bytes + cost.link_out_bytes) > link_bound) continue;
    if (cost.cache_serves || !choices[i].cache_serves) {
      return best_of(std::move(schedule), problem, limits, rates, std::span(choices).subspan(i));
    }
    if (!second_best) second_best = std::move(schedule);
  }
  if (second_best) return *std::move(second_best);
  throw too_little_memory(problem, limits);
}

}  // namespace ooc::detail::product
