#include "commands/join_parts.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "parts/merge_report.hpp"
#include "result/report.hpp"

namespace ooc_run {
namespace {

using Clock = std::chrono::steady_clock;

/// Throws Error(usage) if a file to be replaced is one of the data.
void require_no_data(const std::filesystem::path& target, const std::vector<ShardPart>& parts) {
  std::error_code failed;
  for (const ooc::FileIdentity& file : parts.front().file.input) {
    if (!std::filesystem::equivalent(target, file.name, failed)) continue;
    throw ooc::Error(ooc::ErrorKind::usage,
                     fmt::format("-o {}: is a file of the data", target.string()),
                     {.path = target, .hint = "give it a file of its own"});
  }
}

}  // namespace

Outcome join_parts(const MergeRequest& request, const Parts& all) {
  const std::vector<ShardPart>& parts = all.all;
  const Question& question = *all.question;
  require_no_data(request.target, parts);
  const auto began = Clock::now();
  const PartFacts facts = facts_of_all(parts);
  ooc::PartFile joined{.question = parts.front().file.question,
                       .about = to_text(facts),
                       .input = parts.front().file.input,
                       .earlier = parts.front().file.earlier};
  merge(all);
  question.add_to(joined);
  const std::vector<std::byte> bytes = ooc::detail::bytes_of(joined);
  ooc::detail::OutputFile file(request.target, bytes.size(), request.run.side_files.replace);
  file.write(0, bytes);
  file.commit();
  const std::chrono::duration<double> elapsed = Clock::now() - began;
  std::string ranges;
  for (const ooc::RecordRange& range : joined.covers) {
    ranges += (ranges.empty() ? "" : ", ") + describe_range(range, question.records());
  }
  Outcome outcome;
  outcome.written = request.target.string();
  if (!file.note().empty()) outcome.notes.push_back(file.note());
  if (question.round() < question.rounds()) {
    outcome.notes.push_back("when it covers all values: " +
                            describe_next_round(question.command(), outcome.written));
  }
  const Json result{{"part", outcome.written},
                    {"round", {question.round(), question.rounds()}},
                    {"covers", describe_covers(joined.covers)},
                    {"verified", nullptr}};
  outcome.document =
      request.run.output.json
          ? document(question.command(), facts.input, result,
                     describe_merge(parts, elapsed.count()))
          : fmt::format("{}\n{} of {}, in {}\n\n{}\n", fmt::join(headings_of(facts), "\n"),
                        ranges.empty() ? fmt::format("no {}", question.records()) : ranges,
                        group_digits(std::to_string(joined.records)), printable(outcome.written),
                        describe_parts(parts));
  return outcome;
}

}  // namespace ooc_run
