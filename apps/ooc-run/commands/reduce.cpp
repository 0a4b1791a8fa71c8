#include <ooc/histogram.hpp>

#include <nlohmann/json.hpp>
#include <utility>

#include "commands/commands.hpp"
#include "commands/histogram_report.hpp"
#include "commands/reduce_report.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

Outcome run_with_histogram(const ReduceRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::SummaryOptions options{request.reduce, *request.bins};
  HistogramPicture picture(settings.side_files, *request.bins, request.picture);
  const ooc::Source source = open_input(settings, interrupt);
  if (settings.explain) {
    const Explanation explanation = explain_summary(settings, source, options);
    return explain("reduce", settings, source, explanation, remarks_on(explanation, settings));
  }
  picture.begin();
  Session session(settings, interrupt, summary_task(source, options), settings.verify ? 2 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [summary, stats] =
      ooc::summarize(session.coordinator(), source, options, session.pass());
  require_counts(summary.histogram, stats);
  const Verified verified = session.verify(stats, [&, &found = summary] {
    ooc::verify_summary(session.coordinator(), source, options, found, session.pass());
  });
  Json result = describe_statistics(summary.statistics, options.reduce);
  result["histogram"] =
      answer(describe_histogram(summary.histogram, options.histogram), stats, verified);
  const std::string bars = picture.bars(summary.histogram);
  const std::string text = table(summary.statistics, source.element(), options.reduce);
  session.warn(why_nan(summary.statistics, options.reduce));
  Outcome outcome = session.report("reduce", source, stats, std::move(result),
                                   bars.empty() ? text : text + "\n" + bars, verified,
                                   picture.figure(summary.histogram));
  note_bins(summary.histogram, options.histogram, source.element(), outcome);
  picture.write(summary.histogram, describe_data(source), interrupt, outcome);
  return outcome;
}

}  // namespace

Outcome run(const ReduceRequest& request, const Interrupt& interrupt) {
  if (request.shard) {
    return run_shard(request.run, *request.shard,
                     {.command = "reduce", .reduce = request.reduce, .histogram = request.bins},
                     interrupt);
  }
  if (request.bins) return run_with_histogram(request, interrupt);
  const RunSettings& settings = request.run;
  const ooc::ReduceOptions& options = request.reduce;
  const ooc::Source source = open_input(settings, interrupt);
  if (settings.explain) {
    const Explanation explanation = explain_reduce(settings, source, options);
    return explain("reduce", settings, source, explanation, remarks_on(explanation, settings));
  }
  Session session(settings, interrupt, reduce_task(source, options), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [statistics, stats] =
      ooc::reduce(session.coordinator(), source, options, session.pass());
  const Verified verified = session.verify(stats, [&, &found = statistics] {
    ooc::verify_reduce(session.coordinator(), source, options, found, session.pass());
  });
  session.warn(why_nan(statistics, options));
  return session.report("reduce", source, stats, describe_statistics(statistics, options),
                        table(statistics, source.element(), options), verified);
}

}  // namespace ooc_run
