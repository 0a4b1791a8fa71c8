#include <fmt/core.h>

#include <ooc/distinct.hpp>

#include "answers/value_report.hpp"
#include "cli/sizes.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "parts/questions.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

namespace {

Outcome explain_it(const RunSettings& settings, const ooc::Source& source,
                   const ooc::DistinctOptions& options) {
  const Explanation explanation = explain_distinct(settings, source, options);
  Remarks remarks = remarks_on(explanation, settings);
  const std::size_t bytes = ooc::distinct_table_bytes(settings.options, source, options,
                                                      {.checkpoint = settings.checkpoint});
  if (bytes != 0) {
    remarks.facts.push_back(
        {"values", fmt::format("up to {} for the distinct ones", format_bytes(bytes))});
  }
  return explain("distinct", settings, source, explanation, remarks);
}

}  // namespace

Outcome run(const DistinctRequest& request, const Interrupt& interrupt) {
  const ooc::DistinctOptions& options = request.distinct;
  if (request.shard) {
    return run_shard(request.run, *request.shard, *distinct_question(options), interrupt);
  }
  const RunSettings& settings = request.run;
  const ooc::Source source = open_input(settings, interrupt);
  if (settings.explain) return explain_it(settings, source, options);
  Session session(settings, interrupt, distinct_task(source), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [found, stats] = ooc::distinct(session.coordinator(), source, options, session.pass());
  const Verified verified = session.verify(stats, [&, &found = found] {
    ooc::verify_distinct(session.coordinator(), source, options, found, session.pass());
  });
  // Each of them may be large, and only one is printed.
  const bool as_json = settings.output.json || settings.side_files.report;
  Outcome outcome = session.report(
      "distinct", source, stats, as_json ? describe_distinct(found, options) : Json::object(),
      settings.output.json || request.table ? "" : table(found, source.element()), verified);
  if (request.table) outcome.document = tsv(found);
  return outcome;
}

}  // namespace ooc_run
