#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "answers/bin_table.hpp"
#include "answers/columns_report.hpp"
#include "answers/histogram_report.hpp"
#include "answers/merge_report.hpp"
#include "answers/quantile_report.hpp"
#include "answers/reduce_report.hpp"
#include "answers/value_report.hpp"
#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "commands/commands.hpp"
#include "commands/join_parts.hpp"
#include "parts/merged.hpp"
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
                    describe_range({range.first, end - range.first}, records_of(parts.question))),
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
  const std::uint64_t tile = tile_records_of(all.question);
  const std::uint64_t tiles = ooc::detail::divide_up(parts.front().file.records, tile);
  const unsigned __int128 end = first_missing / tile + 1;
  const auto missing = static_cast<std::uint64_t>((end * shards - 1) / tiles);
  return fmt::format(
      "compute it, with the options of the others: ooc-run {} FILE {}--shard {}/{} "
      "-o {}.part",
      all.question.command, parts.front().file.earlier.empty() ? "" : "--after ROUND.part ",
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
                      describe_range({end, range.first - end}, records_of(parts.question)),
                      group_digits(std::to_string(records))),
          {.hint = missing_shard(parts, end)});
    }
    end = range.end();
  }
}

/// Throws Error(usage) if the parts have no answer, since another round comes after theirs.
void require_last_round(const Parts& parts) {
  if (!parts.choose_bins()) return;
  throw ooc::Error(ooc::ErrorKind::usage, "these parts are of the first of two rounds",
                   {.why = "they have the range of the data, and no counts",
                    .hint = "join them: -o ROUND.part; then " +
                            describe_next_round(parts.question.command, "ROUND.part")});
}

/// Throws Error(input_changed), since a round counted other values than the first one saw.
[[noreturn]] void refuse_changed_rounds(const Parts& parts) {
  const bool are_two = rounds_of(parts.question) <= 2;
  throw ooc::Error(
      ooc::ErrorKind::input_changed,
      fmt::format("the input changed between the {}rounds", are_two ? "two " : ""),
      {.path = parts.all.front().path,
       .why = fmt::format("{} counted values that the first did not see",
                          are_two ? "the second round" : "a later round"),
       .hint = fmt::format("compute {} rounds again, when no program writes to the input",
                           are_two ? "both" : "all")});
}

/// Throws Error(input_changed) if the second round counted other values than the first one saw.
void require_unchanged(const Parts& parts, const ooc::Histogram& histogram) {
  try {
    ooc::require_unchanged(*parts.chosen, histogram);
  } catch (const ooc::Error&) {
    refuse_changed_rounds(parts);
  }
}

/// Throws Error(bad_input) if argmin or argmax is behind the end of the data, which happens only if
/// a part was forged.
void require_places_in_data(const ooc::Statistics& statistics) {
  const auto is_behind = [&](const std::optional<std::uint64_t>& place) {
    return place && *place >= statistics.count;
  };
  if (!is_behind(statistics.argmin) && !is_behind(statistics.argmax)) return;
  throw ooc::Error(ooc::ErrorKind::bad_input,
                   "a saved partial result has its extremes behind the data");
}

/// The text of a result.
struct ResultText {
  const std::string& table;
  const std::string& bars;
  const std::string& warning;
};

/// Prints the warning, if there is one, and returns the document.
Document document_of(const MergeRequest& request, const Parts& all, Clock::time_point began,
                     Json result, const ResultText& text) {
  const std::vector<ShardPart>& parts = all.all;
  const std::chrono::duration<double> elapsed = Clock::now() - began;
  if (!text.warning.empty()) print_warning(text.warning);
  if (!request.run.output.json) {
    return lines_for_stdout(printable(parts.front().facts.heading)) + lines_for_stdout(text.table) +
           text.bars + "\n" + lines_for_stdout(describe_parts(parts));
  }
  return document(all.question.command, parts.front().facts.input,
                  answer(std::move(result), {}, {}), describe_merge(parts, elapsed.count()),
                  {&text.warning, text.warning.empty() ? 0u : 1u});
}

/// Returns the quantiles. Throws Error: `input_changed` if the rounds counted other values; `usage`
/// if another round comes after that of the parts.
ooc::Quantiles quantiles_of(Parts& all) {
  const auto [round, rounds] = all.round();
  try {
    all.search->take(std::move(*merge(all).quantile).result());
  } catch (const ooc::Error& error) {
    if (error.kind() == ooc::ErrorKind::input_changed) refuse_changed_rounds(all);
    throw;
  }
  if (all.search->is_complete()) return all.search->result();
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("these parts are of round {} of {}", round, rounds),
                   {.why = "the quantiles are found in the last round",
                    .hint = "join them: -o ROUND.part; then " +
                            describe_next_round(all.question.command, "ROUND.part")});
}

Outcome merge_quantiles(const MergeRequest& request, Parts& all, Clock::time_point began) {
  const ooc::QuantileOptions& options = *all.question.quantile;
  const ooc::Quantiles found = quantiles_of(all);
  Outcome outcome;
  const std::string warning = why_nan(found, options);
  outcome.document = document_of(request, all, began, describe_quantiles(found, options),
                                 {table(found, all.question.type.element, options), "", warning});
  if (request.table) outcome.document = tsv(found);
  return outcome;
}

/// Throws Error(bad_input) if a value is behind the data, which happens only if a part was forged.
void require_places_in_data(const ooc::Top& found) {
  const auto is_behind = [&](const ooc::TopValue& each) { return each.index >= found.count; };
  if (std::ranges::none_of(found.values, is_behind)) return;
  throw ooc::Error(ooc::ErrorKind::bad_input,
                   "a saved partial result has its values behind the data");
}

Outcome merge_top(const MergeRequest& request, const Parts& all, Clock::time_point began) {
  const ooc::Top found = std::move(*merge(all).top).result();
  require_places_in_data(found);
  Outcome outcome;
  if (request.table) {
    outcome.document = tsv(found);
    return outcome;
  }
  outcome.document = document_of(request, all, began, describe_top(found),
                                 {table(found, all.question.type.element), "", why_none(found)});
  return outcome;
}

Outcome merge_distinct(const MergeRequest& request, const Parts& all, Clock::time_point began) {
  const ooc::DistinctOptions& options = *all.question.distinct;
  const ooc::Distinct found = std::move(*merge(all).distinct).result();
  Outcome outcome;
  if (request.table) {
    outcome.document = tsv(found);
    return outcome;
  }
  outcome.document = document_of(request, all, began, describe_distinct(found, options),
                                 {table(found, all.question.type.element), "", ""});
  return outcome;
}

Outcome merge_columns(const MergeRequest& request, const Parts& all, Clock::time_point began) {
  const std::vector<ooc::Statistics> found = std::move(*merge(all).columns).result();
  for (const ooc::Statistics& column : found) require_places_in_data(column);
  Outcome outcome;
  if (request.table) {
    outcome.document = tsv(found);
    return outcome;
  }
  const ooc::ReduceOptions& options = *all.question.reduce;
  outcome.document =
      document_of(request, all, began, describe_columns(found, options),
                  {table(found, all.question.type.element), "", why_nan(found, options)});
  return outcome;
}

/// Throws Error(usage) for an option that takes bins, if the parts have none.
void require_bins_for(const MergeRequest& request, const Parts& all) {
  if (all.question.histogram) return;
  const auto& table = request.table;
  const bool has_counts = all.question.distinct && all.question.distinct->counts != 0;
  const bool has_table = all.search || all.question.top || has_counts || all.question.columns;
  const std::string_view option = request.run.side_files.plot  ? "plot"
                                  : table && table->density    ? "density"
                                  : table && table->cumulative ? "cumulative"
                                  : table && !has_table        ? "tsv"
                                                               : "";
  if (option.empty()) return;
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("--{}: these parts have no histogram", option),
                   {.hint = "reduce --histogram N --range LO:HI --shard I/N counts in bins, too"});
}

}  // namespace

Outcome run(const MergeRequest& request, const Interrupt& interrupt) {
  const auto began = Clock::now();
  Parts all = read_parts(request.run.files, request.ignore_times);
  const std::vector<ShardPart>& parts = all.all;
  const Question& question = all.question;
  const std::vector<Covered> covered = ranges_of(all);
  if (!request.target.empty()) return join_parts(request, all);
  require_last_round(all);
  require_all(all, covered);
  const ooc::HistogramOptions& bins = all.asked;
  HistogramPicture picture(request.run.side_files, bins, request.picture);
  require_bins_for(request, all);
  if (all.search) return merge_quantiles(request, all, began);
  if (question.top) return merge_top(request, all, began);
  if (question.columns) return merge_columns(request, all, began);
  if (question.distinct) return merge_distinct(request, all, began);
  if (question.histogram) picture.begin();
  Merged merged = merge(all);
  Outcome outcome;
  Json result;
  std::string text, bars, warning;
  std::optional<ooc::Histogram> histogram;
  if (merged.histogram) {
    histogram = std::move(*merged.histogram).result();
    if (all.chosen) require_unchanged(all, *histogram);
    result = describe_histogram(*histogram, bins);
    bars = picture.bars(*histogram);
  }
  if (merged.statistics) {
    const ooc::ReduceOptions& options = *question.reduce;
    const ooc::Statistics statistics = std::move(*merged.statistics).result();
    require_places_in_data(statistics);
    Json described = describe_statistics(statistics, options);
    if (histogram) described["histogram"] = answer(std::exchange(result, {}), {}, {});
    result = std::move(described);
    text = table(statistics, question.type.element, options);
    if (!bars.empty()) text += "\n";
    warning = why_nan(statistics, options);
  }
  outcome.document = document_of(request, all, began, std::move(result), {text, bars, warning});
  if (histogram) {
    note_bins(*histogram, bins, question.type.element, outcome);
    // The title of a picture does not tell where the type is from.
    const std::string title = printable(parts.front().facts.heading);
    picture.write(*histogram, title.substr(0, title.rfind(" (")), interrupt, outcome);
  }
  if (request.table) print_as_table(*std::move(histogram), *request.table, outcome);
  return outcome;
}

}  // namespace ooc_run
