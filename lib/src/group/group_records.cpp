#include "group/group_records.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>

namespace ooc::detail {

namespace {

/// With so few groups, a loop for each of them is faster than a table of places, in which each
/// record waits for the one before.
constexpr std::size_t few_groups = 2;

/// Copies the records of a group, of which there are `size`, to `target`.
template <class Bytes>
void copy_group(const GroupedRecords& records, std::size_t group, std::uint64_t size,
                std::byte* target, Bytes bytes) {
  const std::byte* source = records.source;
  for (std::size_t i = 0; size != 0; ++i) {
    const bool is_taken = records.groups[i] == group;
    if constexpr (std::is_same_v<Bytes, std::size_t>) {
      if (is_taken) std::memcpy(target, source, bytes);
    } else {
      // Without a branch. If the record is of another group, the next one of this group replaces
      // it: there is one, since `size` is not 0.
      std::memcpy(target, source, bytes);
    }
    source += bytes;
    target += is_taken ? bytes : 0;
    size -= is_taken ? 1 : 0;
  }
}

template <class Bytes>
void copy_few_groups(const GroupedRecords& records, Bytes bytes) {
  std::byte* target = records.target;
  for (std::size_t group = 0; group < records.group_count; ++group) {
    copy_group(records, group, records.sizes[group], target, bytes);
    target += records.sizes[group] * bytes;
  }
}

/// Counts the records of each of few groups.
void count_few_groups(const GroupedRecords& records) {
  const std::span<const std::uint16_t> groups(records.groups, records.count);
  for (std::size_t group = 0; group < records.group_count; ++group) {
    records.sizes[group] = static_cast<std::uint64_t>(std::ranges::count(groups, group));
  }
  const auto is_in_none = [&](std::uint16_t group) { return group >= records.group_count; };
  const auto first_without = std::ranges::find_if(groups, is_in_none);
  records.sizes[records.group_count] = static_cast<std::uint64_t>(first_without - groups.begin());
}

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

template <class Bytes>
void move_to_groups(const GroupedRecords& records, Places& places, Bytes bytes) {
  for (std::size_t i = 0; i < records.count; ++i) {
    const std::size_t group = std::min<std::size_t>(records.groups[i], records.group_count);
    std::memcpy(records.target + places[group]++ * bytes, records.source + i * bytes, bytes);
  }
}

/// Calls `call` with the size of a record, as a constant if that is a word.
template <class Call>
void with_size(std::size_t bytes, const Call& call) {
  switch (bytes) {
    case 1: return call(std::integral_constant<std::size_t, 1>{});
    case 2: return call(std::integral_constant<std::size_t, 2>{});
    case 4: return call(std::integral_constant<std::size_t, 4>{});
    case 8: return call(std::integral_constant<std::size_t, 8>{});
    default: return call(bytes);
  }
}

}  // namespace

void group_records_cpu(const GroupedRecords& records) {
  if (records.group_count <= few_groups) {
    count_few_groups(records);
    return with_size(records.record_bytes, [&](auto bytes) { copy_few_groups(records, bytes); });
  }
  Places places = count_groups(records);
  with_size(records.record_bytes, [&](auto bytes) { move_to_groups(records, places, bytes); });
}

}  // namespace ooc::detail
