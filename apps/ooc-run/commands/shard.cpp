#include "commands/shard.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>
#include <utility>
#include <vector>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "dataset/type_doubt.hpp"
#include "parts/part_facts.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// Throws Error unless the part of the round before is of the same question and data.
void require_same(const ooc::PartFile& before, const std::filesystem::path& path,
                  const ooc::PartFile& shard) {
  try {
    ooc::require_same_data(before, path, shard, "this shard");
  } catch (const ooc::Error& error) {
    if (error.kind() != ooc::ErrorKind::input_changed) throw;
    throw with_hint(error,
                    "copies need the times of the files that the first round has read, as "
                    "`cp -p` and `rsync -t` give them");
  }
}

/// Takes what the rounds before have found, from the file of --after, and adds it to the file of
/// the shard. Throws Error: `usage` if no round comes before or after it, or if the file is of
/// another command; `input_changed` if it is of other data.
void take_rounds(Question& question, const Shard& shard, ooc::PartFile& file) {
  const std::size_t rounds = question.rounds();
  if (rounds == 1) {
    throw ooc::Error(ooc::ErrorKind::usage,
                     fmt::format("--after {}: no round comes before", shard.after.string()),
                     {.why = question.why_one_round(), .hint = "leave --after out"});
  }
  const ooc::PartFile before = ooc::read_part_file(shard.after);
  file.earlier = before.earlier;
  require_same(before, shard.after, file);
  std::vector<std::vector<std::byte>>& found = file.earlier;
  found.insert(found.end(), before.parts.begin(), before.parts.end());
  const auto is_last = [&] { return found.size() >= rounds || question.is_answered(); };
  try {
    if (!is_last()) question.take(found, before.records);
  } catch (const ooc::Error& error) {
    throw ooc::Error(error.kind(), fmt::format("{}: {}", shard.after.string(), error.what()),
                     error.details());
  }
  if (!is_last()) return;
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("--after {}: no round comes after it", shard.after.string()),
                   {.path = shard.after,
                    .hint = fmt::format("ooc-run merge {} prints the result",
                                        ooc::shell_word(shard.after.string()))});
}

/// Returns, for example, "1 of 4: the values 25 to 50 of 100".
std::string describe_shard(const Shard& shard, const ooc::Source& section,
                           const Question& question) {
  const std::uint64_t bytes = section.element_bytes() * question.columns();
  const ooc::RecordRange records{section.bytes_before() / bytes, section.bytes() / bytes};
  return fmt::format("{} of {}: {} of {}", shard.index, shard.count,
                     describe_range(records, question.records()),
                     group_digits(std::to_string(section.whole_bytes() / bytes)));
}

/// True if there is the name of an array, or a slice, behind that of the file.
bool has_selector(const std::string& file) {
  return !ooc::detail::selector_of(file).name.empty();
}

/// Returns the elements of the sources that the settings select.
AskedData data_of(Sources sources, const RunSettings& settings) {
  const ooc::Format& format = settings.format;
  AskedData data{.offset = format.offset, .skip = format.skip, .count = format.count};
  const bool are_selected = std::ranges::any_of(settings.files, has_selector);
  for (const ooc::Source& source : sources) {
    data.stored.push_back({.type = source.type().value_or(ooc::DType{}),
                           .array = ooc::detail::SourceAccess::array(source)});
    if (!are_selected) continue;
    for (const ooc::detail::Extent& extent : ooc::detail::storage_of(source)) {
      data.stored.back().places.push_back(extent.offset);
    }
  }
  return data;
}

std::vector<ooc::FileIdentity> identity_of(Sources sources) {
  std::vector<ooc::FileIdentity> all;
  for (const ooc::Source& source : sources) {
    for (ooc::FileIdentity& file : ooc::identity_of(source)) all.push_back(std::move(file));
  }
  return all;
}

/// Gives the question its data. Throws the ooc::Error that the whole command would throw.
void begin(Question& question, std::span<ooc::Source> sources, const RunSettings& settings) {
  question.set_data(data_of(sources, settings));
  question.set_sources(sources);
  if (question.columns() != 0) return;
  throw ooc::Error(ooc::ErrorKind::bad_input,
                   sources.front().name() + ": its rows have no elements",
                   {.hint = "there is nothing to divide into shards"});
}

}  // namespace

Outcome run_shard(const RunSettings& settings, const Shard& shard, Question& question,
                  std::span<ooc::Source> sources, const Interrupt& interrupt) {
  begin(question, sources, settings);
  ooc::PartFile file{.question = question.settings().dump(),
                     .input = identity_of(sources),
                     .records = sources.front().elements() / question.columns()};
  if (!shard.after.empty()) take_rounds(question, shard, file);
  std::vector<ooc::Source> sections;
  for (const ooc::Source& source : sources) sections.push_back(question.section_of(source, shard));
  if (settings.explain) {
    const Explanation explanation = question.explain(settings, sections);
    Remarks remarks = remarks_on(explanation, settings);
    remarks.facts.insert(remarks.facts.begin(),
                         {"shard", describe_shard(shard, sections.front(), question)});
    return explain(question.command(), settings, sections, explanation, remarks);
  }
  ooc::detail::OutputFile output(shard.output, 0, settings.side_files.replace);
  Session session(settings, interrupt, question.task(sections));
  for (const ooc::Source& source : sources) session.warn(type_doubt(source, settings.format));
  const ooc::Stats stats = question.collect(session.coordinator(), sections, session.pass(), file);
  const PartFacts facts{.heading = headings(sources),
                        .input = describe_inputs(question.command(), sources, settings.format),
                        .shard = std::pair{shard.index, shard.count},
                        .device = stats.layout.device,
                        .seconds = stats.timing.seconds,
                        .bytes = stats.outcome.bytes};
  file.about = to_text(facts);
  interrupt.allow_more_time();
  output.write(0, ooc::detail::bytes_of(file));
  output.commit();
  const std::string records = file.covers.empty()
                                  ? fmt::format("no {}", question.records())
                                  : describe_range(file.covers.front(), question.records());
  const std::size_t round = question.round(), rounds = question.rounds();
  Outcome outcome =
      session.report({.command = question.command(),
                      .input = facts.input,
                      .result = {{"part", shard.output.string()},
                                 {"shard", {shard.index, shard.count}},
                                 {"round", {round, rounds}},
                                 {"covers", describe_covers(file.covers)},
                                 {"verified", nullptr}},
                      .heading = facts.heading,
                      .text = fmt::format("shard {} of {}: {}, in {}\n", shard.index, shard.count,
                                          records, printable(shard.output.string()))},
                     stats);
  if (round < rounds) {
    outcome.notes.push_back(fmt::format(
        "{}: when all shards are done, ooc-run merge PART... -o ROUND.part, then {}",
        rounds == 2 ? "the first of two rounds" : fmt::format("round {} of {}", round, rounds),
        describe_next_round(question.command(), "ROUND.part")));
  }
  outcome.written = shard.output.string();
  if (!output.note().empty()) outcome.notes.push_back(output.note());
  return outcome;
}

Outcome run_shard(const RunSettings& settings, const Shard& shard, Question& question,
                  const Interrupt& interrupt) {
  ooc::Source source = open_input(settings, interrupt);
  return run_shard(settings, shard, question, {&source, 1}, interrupt);
}

}  // namespace ooc_run
