#include "matmul/plan/panel_cache.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace ooc::detail::product {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// Returns for every load the index of the next load of the same panel, or `never`.
std::vector<std::uint64_t> next_loads(const Tiling& tiling, const std::vector<Load>& loads) {
  std::vector<std::uint64_t> next_of_a(tiling.row_tiles * tiling.inner_tiles, never);
  std::vector<std::uint64_t> next_of_b(tiling.inner_tiles * tiling.column_tiles, never);
  std::vector<std::uint64_t> next(loads.size());
  for (std::uint64_t i = loads.size(); i-- > 0;) {
    const Load& load = loads[i];
    std::uint64_t& later = load.operand == Operand::a
                               ? next_of_a[load.row * tiling.inner_tiles + load.column]
                               : next_of_b[load.row * tiling.column_tiles + load.column];
    next[i] = later;
    later = i;
  }
  return next;
}

}  // namespace

PanelBuffers::Use PanelBuffers::use(std::uint64_t panel, std::uint64_t step) {
  const auto holds = [&](const Buffer& b) { return b.next_step != 0 && b.panel == panel; };
  auto found = std::ranges::find_if(buffers_, holds);
  const bool load = found == buffers_.end();
  if (load) found = std::ranges::min_element(buffers_, {}, &Buffer::next_step);
  *found = {panel, step + 1};
  return {static_cast<std::uint32_t>(found - buffers_.begin()), load};
}

std::size_t plan_cache(const Tiling& tiling, std::uint64_t entries, std::vector<Load>& loads) {
  if (entries == 0) return 0;
  const std::vector<std::uint64_t> next = next_loads(tiling, loads);
  std::map<std::uint64_t, std::int32_t> kept;  // key: next load of the panel; value: its entry
  std::vector<std::int32_t> unused;
  std::size_t used = 0;
  const auto free_entry = [&] {
    if (!unused.empty()) {
      const std::int32_t entry = unused.back();
      unused.pop_back();
      return entry;
    }
    if (used < entries) return static_cast<std::int32_t>(used++);
    const auto furthest = std::prev(kept.end());
    const std::int32_t entry = furthest->second;
    kept.erase(furthest);
    return entry;
  };

  for (std::uint64_t i = 0; i < loads.size(); ++i) {
    if (!kept.empty() && kept.begin()->first == i) {
      const std::int32_t entry = kept.begin()->second;
      kept.erase(kept.begin());
      loads[i].from = entry;
      if (next[i] == never) unused.push_back(entry);
      if (next[i] != never) kept.emplace(next[i], entry);
      continue;
    }
    const bool room = !unused.empty() || used < entries;
    if (next[i] == never || (!room && next[i] > std::prev(kept.end())->first)) continue;
    loads[i].keep = free_entry();
    kept.emplace(next[i], loads[i].keep);
  }
  return used;
}

}  // namespace ooc::detail::product
