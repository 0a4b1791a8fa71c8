#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "commands/commands.hpp"
#include "commands/join_parts.hpp"
#include "parts/merge_report.hpp"
#include "parts/parts.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

using Clock = std::chrono::steady_clock;

/// A range of values that a part covers.
struct Covered {
  ooc::RecordRange range;
  const ShardPart* part;
};

std::string why_both_cover(const ShardPart& one, const ShardPart& other) {
  if (one.path == other.path) return "it is named twice";
  const std::uint64_t a = one.shard_count(), b = other.shard_count();
  if (a == b) return "each value is counted once";
  if (a == 0 || b == 0) return fmt::format("{} was merged before", a == 0 ? one.path : other.path);
  return fmt::format("they are shards of {} and of {}", a, b);
}

/// Returns the ranges of all parts, in the order of the data. Throws Error(usage) if two overlap.
std::vector<Covered> ranges_of(const Parts& parts) {
  std::vector<Covered> all;
  for (const ShardPart& part : parts.all) {
    for (const ooc::RecordRange& range : part.file.covers) all.push_back({range, &part});
  }
  std::ranges::sort(all, {}, [](const Covered& each) { return each.range.first; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    const ooc::RecordRange &before = all[i - 1].range, &range = all[i].range;
    if (before.end() <= range.first) continue;
    const std::uint64_t end = std::min(before.end(), range.end());
    const ShardPart &one = *all[i - 1].part, &other = *all[i].part;
    throw ooc::Error(
        ooc::ErrorKind::usage,
        fmt::format("{} and {} both cover {}", one.path, other.path,
                    describe_range({range.first, end - range.first}, parts.question->records())),
        {.why = why_both_cover(one, other), .hint = "leave one of them out"});
  }
  return all;
}

/// Returns the command for the shard that begins where no part covers the values. Empty unless all
/// parts belong to the same number of shards.
std::string missing_shard(const Parts& all, std::uint64_t first_missing) {
  const std::vector<ShardPart>& parts = all.all;
  const std::uint64_t shards = parts.front().shard_count();
  const auto differs = [&](const ShardPart& part) { return part.shard_count() != shards; };
  if (shards == 0 || std::ranges::any_of(parts, differs)) return {};
  const std::uint64_t tile = all.question->tile_records();
  const std::uint64_t tiles = ooc::detail::divide_up(parts.front().file.records, tile);
  const unsigned __int128 end = first_missing / tile + 1;
  const auto missing = static_cast<std::uint64_t>((end * shards - 1) / tiles);
  return fmt::format(
      "compute it, with the options of the others: ooc-run {} FILE {}--shard {}/{} "
      "-o {}.part",
      all.question->command(), parts.front().file.earlier.empty() ? "" : "--after ROUND.part ",
      missing, shards, missing);
}

/// Throws Error(usage) if values are covered by none of the parts.
void require_all(const Parts& parts, std::vector<Covered> covered) {
  const std::uint64_t records = parts.all.front().file.records;
  covered.push_back({{records, 0}, nullptr});
  std::uint64_t end = 0;
  for (const auto& [range, part] : covered) {
    if (range.first > end) {
      throw ooc::Error(
          ooc::ErrorKind::usage,
          fmt::format("no part covers {} of {}",
                      describe_range({end, range.first - end}, parts.question->records()),
                      group_digits(std::to_string(records))),
          {.hint = missing_shard(parts, end)});
    }
    end = range.end();
  }
}

/// Throws Error(input_changed), since a round counted other values than the first one saw.
[[noreturn]] void refuse_changed_rounds(const Parts& parts) {
  const bool are_two = parts.question->rounds() <= 2;
  throw ooc::Error(
      ooc::ErrorKind::input_changed,
      fmt::format("the input changed between the {}rounds", are_two ? "two " : ""),
      {.path = parts.all.front().path,
       .why = fmt::format("{} counted values that the first did not see",
                          are_two ? "the second round" : "a later round"),
       .hint = fmt::format("compute {} rounds again, when no program writes to the input",
                           are_two ? "both" : "all")});
}

/// Throws Error(usage) for an option that the answer cannot be shown by.
void require_options(const MergeRequest& request, const Question& question) {
  if (request.run.side_files.plot) question.require_taken("plot");
  if (!request.table) return;
  if (request.table->density) question.require_taken("density");
  if (request.table->cumulative) question.require_taken("cumulative");
  question.require_taken("tsv");
}

Document document_of(const MergeRequest& request, const Parts& all, double seconds,
                     MergedAnswer found) {
  const PartFacts& facts = all.all.front().facts;
  if (!request.run.output.json) {
    std::string text;
    for (const std::string& heading : headings_of(facts)) text += lines_for_stdout(heading);
    return text + lines_for_stdout(found.text) + found.bars + "\n" +
           lines_for_stdout(describe_parts(all.all));
  }
  return document(all.question->command(), facts.input, answer(std::move(found.json), {}, {}),
                  describe_merge(all.all, seconds),
                  {&found.warning, found.warning.empty() ? 0u : 1u});
}

/// Returns the answer of all parts. See Question::answer().
MergedAnswer answer_of(const MergeRequest& request, const Parts& all, const Interrupt& interrupt,
                       Outcome& outcome) {
  merge(all);
  // The title of a picture does not tell where the type is from.
  const std::string heading = headings_of(all.all.front().facts).front();
  try {
    return all.question->answer(request, heading.substr(0, heading.rfind(" (")), interrupt,
                                outcome);
  } catch (const ooc::Error& error) {
    if (error.kind() != ooc::ErrorKind::input_changed) throw;
    refuse_changed_rounds(all);
  }
}

}  // namespace

Outcome run(const MergeRequest& request, const Interrupt& interrupt) {
  const auto began = Clock::now();
  const Parts all = read_parts(request.run.files, request.ignore_times);
  const std::vector<Covered> covered = ranges_of(all);
  if (!request.target.empty()) return join_parts(request, all);
  require_options(request, *all.question);
  all.question->prepare(request);
  require_all(all, covered);
  Outcome outcome;
  MergedAnswer found = answer_of(request, all, interrupt, outcome);
  const ShardPart& first = all.all.front();
  const bool is_empty = first.file.records == 0 && all.question->data().count != 0;
  if (is_empty && found.warning.empty() && !first.file.input.empty()) {
    found.warning = printable(first.file.input.front().name) + ": there are no values in it";
  }
  if (!found.warning.empty()) print_warning(found.warning);
  if (request.table) return outcome;
  const std::chrono::duration<double> elapsed = Clock::now() - began;
  outcome.document = document_of(request, all, elapsed.count(), std::move(found));
  return outcome;
}

}  // namespace ooc_run
