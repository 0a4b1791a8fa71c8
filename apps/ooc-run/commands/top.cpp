#include <ooc/top.hpp>

#include "answers/value_report.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "parts/questions.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

Outcome run(const TopRequest& request, const Interrupt& interrupt) {
  if (request.shard) {
    return run_shard(request.run, *request.shard, *top_question(request.top), interrupt);
  }
  const RunSettings& settings = request.run;
  const ooc::Source source = open_input(settings, interrupt);
  if (settings.explain) {
    const Explanation explanation = explain_top(settings, source, request.top);
    return explain("top", settings, source, explanation, remarks_on(explanation, settings));
  }
  Session session(settings, interrupt, top_task(source), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [found, stats] = ooc::top(session.coordinator(), source, request.top, session.pass());
  const Verified verified = session.verify(stats, [&, &found = found] {
    ooc::verify_top(session.coordinator(), source, request.top, found, session.pass());
  });
  session.warn(why_none(found));
  // Each of them may be large, and only one is printed.
  const bool as_json = settings.output.json || settings.side_files.report;
  Outcome outcome = session.report(
      "top", source, stats, as_json ? describe_top(found) : Json::object(),
      settings.output.json || request.table ? "" : table(found, source.element()), verified);
  if (request.table) outcome.document = tsv(found);
  return outcome;
}

}  // namespace ooc_run
