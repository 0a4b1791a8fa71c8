#include "group/group_records.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ooc::detail {

namespace {

/// Places of the next record of each group, and of those that are in none.
using Places = std::array<std::uint64_t, most_groups + 1>;

/// Counts the records of each group. Returns the places of the first ones.
Places count_groups(const GroupedRecords& records) {
  const std::size_t groups = records.group_count;
  Places counts{};
  std::size_t first_without = records.count;
  for (std::size_t i = 0; i < records.count; ++i) {
    const std::size_t group = std::min<std::size_t>(records.groups[i], groups);
    if (group == groups) first_without = std::min(first_without, i);
    ++counts[group];
  }
  std::uint64_t place = 0;
  for (std::size_t group = 0; group < groups; ++group) {
    records.sizes[group] = counts[group];
    counts[group] = place;
    place += records.sizes[group];
  }
  counts[groups] = place;
  records.sizes[groups] = first_without;
  return counts;
}

/// `bytes`: of a record; a constant makes each copy one instruction.
template <class Bytes>
void move_to_groups(const GroupedRecords& records, Places& places, Bytes bytes) {
  for (std::size_t i = 0; i < records.count; ++i) {
    const std::size_t group = std::min<std::size_t>(records.groups[i], records.group_count);
    std::memcpy(records.target + places[group]++ * bytes, records.source + i * bytes, bytes);
  }
}

}  // namespace

void group_records_cpu(const GroupedRecords& records) {
  Places places = count_groups(records);
  switch (records.record_bytes) {
    case 1: return move_to_groups(records, places, std::integral_constant<std::size_t, 1>{});
    case 2: return move_to_groups(records, places, std::integral_constant<std::size_t, 2>{});
    case 4: return move_to_groups(records, places, std::integral_constant<std::size_t, 4>{});
    case 8: return move_to_groups(records, places, std::integral_constant<std::size_t, 8>{});
    default: return move_to_groups(records, places, records.record_bytes);
  }
}

}  // namespace ooc::detail
