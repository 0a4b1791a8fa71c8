#include <ooc/quantile.hpp>

#include "answers/quantile_report.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

Outcome run(const QuantileRequest& request, const Interrupt& interrupt) {
  if (request.shard) {
    return run_shard(request.run, *request.shard,
                     {.command = "quantile", .quantile = request.quantile}, interrupt);
  }
  const RunSettings& settings = request.run;
  const ooc::QuantileOptions& options = request.quantile;
  const ooc::Source source = open_input(settings, interrupt);
  const std::size_t passes = ooc::quantile_passes(source.element(), options);
  if (settings.explain) {
    const Explanation explanation = explain_quantile(settings, source, options, passes);
    return explain("quantile", settings, source, explanation, remarks_on(explanation, settings));
  }
  Session session(settings, interrupt, quantile_task(source, passes), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [found, stats] = ooc::quantile(session.coordinator(), source, options, session.pass());
  require_quantiles(stats);
  const Verified verified = session.verify(stats, [&, &found = found] {
    ooc::verify_quantile(session.coordinator(), source, options, found, session.pass());
  });
  session.warn(why_nan(found, options));
  Outcome outcome = session.report("quantile", source, stats, describe_quantiles(found, options),
                                   table(found, source.element(), options), verified);
  if (request.table) outcome.document = tsv(found);
  return outcome;
}

}  // namespace ooc_run
