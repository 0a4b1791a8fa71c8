#include "commands/shard.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "dataset/type_doubt.hpp"
#include "parts/part_facts.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// Throws Error(usage) if a histogram needs the range of all data.
void require_range(const ooc::Source& source, const Question& question) {
  if (!question.histogram) return;
  if (question.histogram->edges.empty() && question.histogram->bins.rule()) {
    throw ooc::Error(ooc::ErrorKind::usage,
                     "the shards of a histogram need the same number of bins and --range",
                     {.why = "a rule needs statistics of all data, which no shard has",
                      .hint = "give the number of bins and --range LO:HI"});
  }
  if (ooc::histogram_passes(source, *question.histogram) == 1) return;
  throw ooc::Error(
      ooc::ErrorKind::usage, "the shards of a histogram need the same --range",
      {.why = "no shard has the minimum and the maximum of all data",
       .hint =
           "first find them: ooc-run reduce FILE --shard I/N -o I.part for each shard, then "
           "ooc-run merge *.part --json; then histogram FILE --range MIN:MAX --shard I/N, with all "
           "digits that JSON has"});
}

Task task_of(const ooc::Source& section, const Question& question) {
  if (!question.histogram) return reduce_task(section, *question.reduce);
  if (!question.reduce) return histogram_task(section, *question.histogram);
  return summary_task(section, {*question.reduce, *question.histogram});
}

Explanation explanation_of(const RunSettings& settings, const ooc::Source& section,
                           const Question& question) {
  if (!question.histogram) return explain_reduce(settings, section, *question.reduce);
  if (!question.reduce) return explain_histogram(settings, section, *question.histogram);
  return explain_summary(settings, section, {*question.reduce, *question.histogram});
}

/// Returns, for example, "1 of 4: the values 25 to 50 of 100".
std::string describe_shard(const Shard& shard, const ooc::Source& section) {
  const std::uint64_t bytes = section.element_bytes();
  const ooc::RecordRange values{section.bytes_before() / bytes, section.bytes() / bytes};
  return fmt::format("{} of {}: {} of {}", shard.index, shard.count, describe_range(values),
                     group_digits(std::to_string(section.whole_bytes() / bytes)));
}

/// Computes the parts, and adds them to the file.
ooc::Stats collect(Session& session, const ooc::Source& section, const Question& question,
                   ooc::PartFile& file) {
  const auto& [reduce, histogram] = std::tie(question.reduce, question.histogram);
  if (!histogram) {
    auto [part, stats] =
        ooc::collect_reduce(session.coordinator(), section, *reduce, session.pass());
    file.add(part);
    return std::move(stats);
  }
  if (!reduce) {
    auto [part, stats] =
        ooc::collect_histogram(session.coordinator(), section, *histogram, session.pass());
    file.add(part);
    return std::move(stats);
  }
  auto [parts, stats] =
      ooc::collect_summary(session.coordinator(), section, {*reduce, *histogram}, session.pass());
  file.add(std::get<0>(parts));
  file.add(std::get<1>(parts));
  return std::move(stats);
}

}  // namespace

Outcome run_shard(const RunSettings& settings, const Shard& shard, Question question,
                  const Interrupt& interrupt) {
  const ooc::Source source = open_input(settings, interrupt);
  question.type = source.type().value_or(ooc::DType{});
  question.offset = settings.format.offset;
  question.skip = settings.format.skip;
  question.count = settings.format.count;
  require_range(source, question);
  const ooc::Source section = ooc::shard(source, shard.index, shard.count, ooc::tile_elements);
  if (settings.explain) {
    const Explanation explanation = explanation_of(settings, section, question);
    Remarks remarks = remarks_on(explanation, settings);
    remarks.facts.insert(remarks.facts.begin(), {"shard", describe_shard(shard, section)});
    return explain(question.command, settings, section, explanation, remarks);
  }
  ooc::detail::OutputFile output(shard.output, 0, settings.side_files.replace);
  ooc::PartFile file{.question = to_json(question).dump(), .input = ooc::identity_of(source)};
  Session session(settings, interrupt, task_of(section, question));
  session.warn(type_doubt(source, settings.format));
  const ooc::Stats stats = collect(session, section, question, file);
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
  const std::string values =
      file.covers.empty() ? "no values" : describe_range(file.covers.front());
  Outcome outcome =
      session.report({.command = question.command,
                      .input = facts.input,
                      .result = {{"part", shard.output.string()},
                                 {"shard", {shard.index, shard.count}},
                                 {"covers", describe_covers(file.covers)},
                                 {"verified", nullptr}},
                      .heading = facts.heading,
                      .text = fmt::format("shard {} of {}: {}, in {}\n", shard.index, shard.count,
                                          values, printable(shard.output.string()))},
                     stats);
  outcome.written = shard.output.string();
  if (!output.note().empty()) outcome.notes.push_back(output.note());
  return outcome;
}

}  // namespace ooc_run
