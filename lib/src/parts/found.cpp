#include <ooc/collect.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>

#include <algorithm>
#include <string>

namespace ooc::detail {

namespace {

std::string described(const RecordRange& range) {
  return std::to_string(range.first) + " to " + std::to_string(range.end());
}

/// True if a range is one of a dataset, and begins and ends with whole partitions.
bool is_whole(const RecordRange& range, std::uint64_t partition, std::uint64_t records) {
  return range.first <= records && range.count <= records - range.first &&
         range.first % partition == 0 && (range.end() % partition == 0 || range.end() == records);
}

RecordRange range_of(const PassInput& input) {
  return {records_before(input), input.source.bytes() / input.record.bytes};
}

std::uint64_t whole_records(const PassInput& input) {
  return input.source.whole_bytes() / input.record.bytes;
}

/// Puts the ranges in their order and joins those that touch. Throws Error of that kind if two
/// overlap.
void join(std::vector<RecordRange>& ranges, ErrorKind kind) {
  std::erase_if(ranges, [](const RecordRange& range) { return range.count == 0; });
  std::ranges::sort(ranges, {}, &RecordRange::first);
  std::vector<RecordRange> joined;
  for (const RecordRange& range : ranges) {
    if (joined.empty() || joined.back().end() < range.first) {
      joined.push_back(range);
    } else if (joined.back().end() == range.first) {
      joined.back().count += range.count;
    } else {
      const RecordRange both{range.first, std::min(joined.back().end(), range.end()) - range.first};
      throw Error(kind, "two parts cover the records " + described(both),
                  {.why = "each record is counted once"});
    }
  }
  ranges = std::move(joined);
}

}  // namespace

void Cover::add(const Cover& other) {
  if (other.records != records) {
    throw Error(ErrorKind::usage,
                "one part is of " + std::to_string(records) + " records, the other one of " +
                    std::to_string(other.records),
                {.why = "parts of one dataset merge"});
  }
  if (other.partition != partition) {
    throw Error(ErrorKind::usage,
                "one part has partitions of " + std::to_string(partition) +
                    " records, the other one of " + std::to_string(other.partition),
                {.why = "the operator has others on a GPU than on the CPU",
                 .hint = "give it `same_bits_everywhere`, or compute all parts on one kind of "
                         "device"});
  }
  std::vector<RecordRange> both = ranges;
  both.insert(both.end(), other.ranges.begin(), other.ranges.end());
  join(both, ErrorKind::usage);
  ranges = std::move(both);
}

void Cover::require_whole() const {
  std::uint64_t covered = 0;
  if (!ranges.empty() && ranges.front().first == 0) covered = ranges.front().end();
  if (covered == records) return;
  const std::size_t next = covered == 0 ? 0 : 1;
  const std::uint64_t end = next < ranges.size() ? ranges[next].first : records;
  throw Error(ErrorKind::usage, "no part covers the records " + described({covered, end - covered}),
              {.why = "a result is of all " + std::to_string(records) + " records"});
}

void Cover::save(std::vector<std::byte>& out) const {
  append_bytes(out, records);
  append_bytes(out, partition);
  append_bytes(out, std::uint64_t{ranges.size()});
  for (const RecordRange& range : ranges) append_bytes(out, range);
}

Cover Cover::load(ByteReader& in) {
  Cover cover;
  cover.records = in.take<std::uint64_t>();
  cover.partition = in.take<std::uint64_t>();
  const std::size_t count = in.take_count(sizeof(RecordRange));
  for (std::size_t i = 0; i < count; ++i) {
    cover.ranges.push_back(in.take<RecordRange>());
    if (cover.partition == 0 || !is_whole(cover.ranges.back(), cover.partition, cover.records)) {
      throw Error(ErrorKind::bad_input, "a saved partial result covers records that are not there");
    }
  }
  join(cover.ranges, ErrorKind::bad_input);
  return cover;
}

Cover cover_of(std::span<const PassInput> inputs, std::size_t partition) {
  require_whole_partitions(inputs, partition);
  Cover cover{.records = whole_records(inputs.front()), .partition = partition};
  if (const RecordRange range = range_of(inputs.front()); range.count != 0) {
    cover.ranges.push_back(range);
  }
  return cover;
}

Cover cover_of(std::span<const PassInput> inputs, std::size_t partition,
               const OutcomeStats& outcome) {
  Cover cover = cover_of(inputs, partition);
  if (cover.ranges.empty()) return cover;
  const std::uint64_t first = cover.ranges.front().first;
  cover.ranges = outcome.covers;
  if (cover.ranges.empty()) cover.ranges = {{0, outcome.records}};
  for (RecordRange& range : cover.ranges) range.first += first;
  const auto is_part = [&](const RecordRange& range) {
    return is_whole(range, partition, cover.records);
  };
  if (!std::ranges::all_of(cover.ranges, is_part)) {
    throw Error(ErrorKind::internal, "a pass was stopped within a partition");
  }
  join(cover.ranges, ErrorKind::internal);
  return cover;
}

void require_whole_partitions(std::span<const PassInput> inputs, std::size_t partition) {
  for (const PassInput& input : inputs) {
    if (!input.source.is_section()) continue;
    const RecordRange range = range_of(input);
    if (is_whole(range, partition, whole_records(input))) continue;
    throw Error(ErrorKind::usage,
                input.source.name() + ": a section of the records " + described(range) +
                    " is not whole partitions of the operator",
                {.why = "these begin at multiples of " + std::to_string(partition) + " records",
                 .hint = "let the section begin and end at such multiples, or at the end of the "
                         "data"});
  }
}

void require_nodes(const Cover& cover,
                   std::span<const std::pair<std::uint64_t, std::uint64_t>> nodes) {
  const std::uint64_t tiles = divide_up(cover.records, cover.partition);
  std::vector<RecordRange> ranges;
  for (const auto& [level, index] : nodes) {
    if (level > 63 || index >= tiles >> level) {
      throw Error(ErrorKind::bad_input, "a saved partial result has a node that is not there");
    }
    const std::uint64_t first = (index << level) * cover.partition;
    const std::uint64_t most = cover.records - first;
    const std::uint64_t of_node = std::uint64_t{1} << level;
    ranges.push_back({first, of_node > most / cover.partition ? most : of_node * cover.partition});
  }
  join(ranges, ErrorKind::bad_input);
  if (ranges == cover.ranges) return;
  throw Error(ErrorKind::bad_input,
              "the nodes of a saved partial result do not cover the records that it names");
}

void require_records(const Cover& cover, std::uint64_t seen) {
  std::uint64_t covered = 0;
  for (const RecordRange& range : cover.ranges) covered += range.count;
  if (seen == covered) return;
  throw Error(ErrorKind::bad_input, "a saved partial result is of " + std::to_string(seen) +
                                        " records, not of the " + std::to_string(covered) +
                                        " that it names");
}

void require_same_question(std::string_view name, std::string_view question,
                           std::string_view other_name, std::string_view other_question) {
  if (name != other_name) {
    throw Error(ErrorKind::usage, "one part is of the operator " + std::string(name) +
                                      ", the other one of " + std::string(other_name));
  }
  if (question == other_question) return;
  throw Error(ErrorKind::usage,
              "one part of " + std::string(name) + " is of " + std::string(question) +
                  ", the other one of " + std::string(other_question),
              {.why = "parts of one question merge"});
}

}  // namespace ooc::detail
