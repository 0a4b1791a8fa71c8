#include "commands/shard.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "commands/axis.hpp"
#include "dataset/type_doubt.hpp"
#include "parts/part_facts.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// The work of a shard in one of the rounds of its command.
struct Round {
  std::uint64_t number = 1, count = 1;
  Question asked{};  // of this round: with the bins that the round before has chosen
  std::vector<std::vector<std::byte>> earlier{};  // what the rounds before have found
  std::optional<ooc::QuantileSearch> search{};    // for quantiles, after these

  /// True if bins are to be chosen, for the next round.
  bool chooses_bins() const { return asked.histogram && number < count; }
};

/// Throws Error unless the part of the round before is of the same question and data.
void require_same_data(const ooc::PartFile& before, const std::filesystem::path& path,
                       const ooc::Source& source, const Question& question) {
  try {
    ooc::require_same_data(before, path,
                           {.question = to_json(question).dump(),
                            .input = ooc::identity_of(source),
                            .records = source.elements(),
                            .earlier = before.earlier},
                           "this shard");
  } catch (const ooc::Error& error) {
    if (error.kind() != ooc::ErrorKind::input_changed) throw;
    throw with_hint(error,
                    "copies need the times of the files that the first round has read, as "
                    "`cp -p` and `rsync -t` give them");
  }
}

/// Reads what the round before has found. Throws Error: `usage` if no round comes before, or if the
/// file is of another command; `input_changed` if it is of other data.
ooc::PartFile read_round(const ooc::Source& source, const Question& question, const Shard& shard,
                         std::uint64_t rounds) {
  if (rounds == 1) {
    throw ooc::Error(ooc::ErrorKind::usage,
                     fmt::format("--after {}: no round comes before", shard.after.string()),
                     {.why = question.quantile ? "quantiles of this type take one round"
                                               : "this command does not depend on the range of all "
                                                 "data",
                      .hint = "leave --after out"});
  }
  ooc::PartFile before = ooc::read_part_file(shard.after);
  if (question.histogram && !before.earlier.empty()) {
    throw ooc::Error(ooc::ErrorKind::usage,
                     fmt::format("--after {}: is of the second round", shard.after.string()),
                     {.path = shard.after, .hint = "--after takes the merged part of the first"});
  }
  require_same_data(before, shard.after, source, question);
  return before;
}

/// Takes what the rounds before have found. Throws Error(usage) if no round is left.
void take_earlier(Round& round, const ooc::PartFile& before, const Shard& shard) {
  round.number = round.earlier.size() + 1;
  if (!round.asked.quantile) {
    round.asked.histogram = chosen_bins(round.asked, before.parts.front(), before.records).options;
    return;
  }
  round.search = search_after(round.asked, round.earlier, before.records);
  if (!round.search->is_complete()) return;
  throw ooc::Error(ooc::ErrorKind::usage, "no round comes after it",
                   {.hint = fmt::format("ooc-run merge {} prints the quantiles",
                                        ooc::shell_word(shard.after.string()))});
}

/// Returns the round that comes first, or the one after `file`. Throws Error: `usage` if there is
/// no such round, or if the file is of another command; `input_changed` if it is of other data.
Round round_of(const ooc::Source& source, const Question& question, const Shard& shard) {
  Round round{.count = rounds_of(question), .asked = question};
  if (question.quantile) round.search = search_after(question, {}, source.elements());
  if (question.histogram && round.count > 2) {
    throw ooc::Error(
        ooc::ErrorKind::usage, "shards do not look for the quartiles of a rule",
        {.hint = "give a number of bins, or another rule; ooc-run quantile has shards"});
  }
  if (question.histogram && round.count > 1 && source.is_empty()) {
    throw ooc::Error(ooc::ErrorKind::usage, "no data have no range for bins",
                     {.hint = "give it: --range LO:HI, and a number of bins"});
  }
  if (shard.after.empty()) return round;
  ooc::PartFile before = read_round(source, question, shard, round.count);
  round.earlier = before.earlier;
  round.earlier.insert(round.earlier.end(), before.parts.begin(), before.parts.end());
  try {
    take_earlier(round, before, shard);
  } catch (const ooc::Error& error) {
    throw ooc::Error(error.kind(), fmt::format("{}: {}", shard.after.string(), error.what()),
                     error.details());
  }
  return round;
}

/// Returns a question that takes as many passes as the round, and as much memory: a first round
/// reads the data once, and takes the memory of the second.
Question planned_in(const Round& round) {
  Question planned = round.asked;
  if (!round.chooses_bins()) return planned;
  const ooc::BinCount bins = planned.histogram->bins;
  planned.histogram = ooc::HistogramOptions{.range = {{0, 1}}};
  if (!bins.rule()) planned.histogram->bins = bins;
  planned.reduce.reset();
  return planned;
}

Task task_of(const ooc::Source& section, const Question& question) {
  if (question.quantile) return quantile_task(section, 1);
  if (question.top) return top_task(section);
  if (question.distinct) return distinct_task(section);
  if (!question.histogram) return reduce_task(section, *question.reduce);
  if (!question.reduce) return histogram_task(section, *question.histogram);
  return summary_task(section, {*question.reduce, *question.histogram});
}

Explanation explanation_of(const RunSettings& settings, const ooc::Source& section,
                           const Question& question) {
  if (question.quantile) return explain_quantile(settings, section, *question.quantile, 1);
  if (question.top) return explain_top(settings, section, *question.top);
  if (question.columns) return explain_columns(settings, section, *question.reduce);
  if (question.distinct) return explain_distinct(settings, section, *question.distinct, true);
  if (!question.histogram) return explain_reduce(settings, section, *question.reduce);
  if (!question.reduce) return explain_histogram(settings, section, *question.histogram);
  return explain_summary(settings, section, {*question.reduce, *question.histogram});
}

/// Returns, for example, "1 of 4: the values 25 to 50 of 100".
std::string describe_shard(const Shard& shard, const ooc::Source& section,
                           const Question& question) {
  const std::uint64_t bytes = section.element_bytes() * question.columns.value_or(1);
  const ooc::RecordRange values{section.bytes_before() / bytes, section.bytes() / bytes};
  return fmt::format("{} of {}: {} of {}", shard.index, shard.count,
                     describe_range(values, records_of(question)),
                     group_digits(std::to_string(section.whole_bytes() / bytes)));
}

/// True if there is the name of an array, or a slice, behind that of the file.
bool has_selector(const std::string& file) {
  return !ooc::detail::selector_of(file).name.empty();
}

/// Returns the section of a shard.
ooc::Source section_of(const ooc::Source& source, const Shard& shard, const Question& question) {
  const std::uint64_t tile = tile_records_of(question);
  return question.columns ? ooc::shard_rows(source, shard.index, shard.count, tile)
                          : ooc::shard(source, shard.index, shard.count, tile);
}

/// Sets the data that the question is about, and their rows if it is about columns.
void set_data(Question& question, ooc::Source& source, const RunSettings& settings) {
  if (question.columns) {
    const bool is_given = *question.columns != 0;
    question.columns = set_columns(source, is_given ? question.columns : std::nullopt);
  }
  const ooc::Format& format = settings.format;
  question.type = source.type().value_or(ooc::DType{});
  question.offset = format.offset;
  question.skip = format.skip;
  question.count = format.count;
  question.array = ooc::detail::SourceAccess::array(source);
  if (std::ranges::any_of(settings.files, has_selector)) {
    for (const ooc::detail::Extent& extent : ooc::detail::storage_of(source)) {
      question.places.push_back(extent.offset);
    }
  }
}

/// Computes the parts, and adds them to the file.
ooc::Stats collect(Session& session, const ooc::Source& section, const Round& round,
                   ooc::PartFile& file) {
  const auto& [reduce, histogram, top, distinct] =
      std::tie(round.asked.reduce, round.asked.histogram, round.asked.top, round.asked.distinct);
  ooc::Coordinator& coordinator = session.coordinator();
  const auto keep = [&file](auto found) {
    file.add(found.value);
    return std::move(found.stats);
  };
  if (round.search) return keep(round.search->collect(coordinator, section, session.pass()));
  if (top) return keep(ooc::collect_top(coordinator, section, *top, session.pass()));
  if (distinct) return keep(ooc::collect_distinct(coordinator, section, *distinct, session.pass()));
  if (round.asked.columns) {
    return keep(ooc::collect_reduce_columns(coordinator, section, *reduce, session.pass()));
  }
  if (round.chooses_bins()) {
    return keep(ooc::collect_bins(coordinator, section, *histogram, session.pass()));
  }
  if (!histogram) return keep(ooc::collect_reduce(coordinator, section, *reduce, session.pass()));
  if (!reduce) {
    return keep(ooc::collect_histogram(coordinator, section, *histogram, session.pass()));
  }
  auto [parts, stats] =
      ooc::collect_summary(coordinator, section, {*reduce, *histogram}, session.pass());
  file.add(std::get<0>(parts));
  file.add(std::get<1>(parts));
  return std::move(stats);
}

}  // namespace

Outcome run_shard(const RunSettings& settings, const Shard& shard, Question question,
                  const Interrupt& interrupt) {
  ooc::Source source = open_input(settings, interrupt);
  set_data(question, source, settings);
  const Round round = round_of(source, question, shard);
  const Question planned = planned_in(round);
  const ooc::Source section = section_of(source, shard, question);
  if (settings.explain) {
    const Explanation explanation = explanation_of(settings, section, planned);
    Remarks remarks = remarks_on(explanation, settings);
    remarks.facts.insert(remarks.facts.begin(),
                         {"shard", describe_shard(shard, section, question)});
    return explain(question.command, settings, section, explanation, remarks);
  }
  ooc::detail::OutputFile output(shard.output, 0, settings.side_files.replace);
  ooc::PartFile file{.question = to_json(question).dump(),
                     .input = ooc::identity_of(source),
                     .earlier = round.earlier};
  Session session(settings, interrupt, task_of(section, planned));
  session.warn(type_doubt(source, settings.format));
  const ooc::Stats stats = collect(session, section, round, file);
  const PartFacts facts{.heading = heading(source),
                        .input = describe_input(source, settings.format),
                        .shard = std::pair{shard.index, shard.count},
                        .device = stats.layout.device,
                        .seconds = stats.timing.seconds,
                        .bytes = stats.outcome.bytes};
  file.about = to_text(facts);
  interrupt.allow_more_time();
  output.write(0, ooc::detail::bytes_of(file));
  output.commit();
  const std::string values = file.covers.empty()
                                 ? fmt::format("no {}", records_of(question))
                                 : describe_range(file.covers.front(), records_of(question));
  Outcome outcome =
      session.report({.command = question.command,
                      .input = facts.input,
                      .result = {{"part", shard.output.string()},
                                 {"shard", {shard.index, shard.count}},
                                 {"round", {round.number, round.count}},
                                 {"covers", describe_covers(file.covers)},
                                 {"verified", nullptr}},
                      .heading = facts.heading,
                      .text = fmt::format("shard {} of {}: {}, in {}\n", shard.index, shard.count,
                                          values, printable(shard.output.string()))},
                     stats);
  if (round.number < round.count) {
    outcome.notes.push_back(
        fmt::format("{}: when all shards are done, ooc-run merge PART... -o ROUND.part, then {}",
                    round.count == 2 ? "the first of two rounds"
                                     : fmt::format("round {} of {}", round.number, round.count),
                    describe_next_round(question.command, "ROUND.part")));
  }
  outcome.written = shard.output.string();
  if (!output.note().empty()) outcome.notes.push_back(output.note());
  return outcome;
}

}  // namespace ooc_run
