#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>

#include <nlohmann/json.hpp>
#include <utility>

#include "answers/histogram_report.hpp"
#include "answers/quantile_report.hpp"
#include "answers/reduce_report.hpp"
#include "commands/axis.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "parts/questions.hpp"
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

Outcome run_with_quantiles(const ReduceRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::QuantileOptions& options = *request.quantile;
  const ooc::Source source = open_input(settings, interrupt);
  const std::size_t passes = ooc::quantile_passes(source.element(), options);
  if (settings.explain) {
    const Explanation explanation = explain_quantile(settings, source, options, passes);
    return explain("reduce", settings, source, explanation, remarks_on(explanation, settings));
  }
  Session session(settings, interrupt, quantile_task(source, passes), settings.verify ? 2 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [found, stats] = ooc::reduce_with_quantiles(session.coordinator(), source,
                                                         request.reduce, options, session.pass());
  require_quantiles(stats);
  const auto& [statistics, quantiles] = found;
  const Verified verified = session.verify(stats, [&, &statistics = statistics,
                                                   &quantiles = quantiles] {
    ooc::verify_reduce(session.coordinator(), source, request.reduce, statistics, session.pass());
    ooc::verify_quantile(session.coordinator(), source, options, quantiles, session.pass());
  });
  Json result = describe_statistics(statistics, request.reduce);
  result["method"] = describe_quantiles(quantiles, options)["method"];
  result["quantiles"] = describe_quantiles(quantiles, options)["quantiles"];
  session.warn(why_nan(statistics, request.reduce));
  if (quantiles.nan == 0) session.warn(why_nan(quantiles, options));
  return session.report("reduce", source, stats, std::move(result),
                        table(statistics, source.element(), request.reduce) + "\n" +
                            rows_of(quantiles, source.element()),
                        verified);
}

}  // namespace

Outcome run(const ReduceRequest& request, const Interrupt& interrupt) {
  if (request.shard) {
    const Asked question = request.by_column
                               ? columns_question(request.reduce, request.by_column->columns)
                               : summary_question("reduce", request.reduce, request.bins);
    return run_shard(request.run, *request.shard, *question, interrupt);
  }
  if (request.by_column) return run_by_column(request, interrupt);
  if (request.by_row) return run_by_row(request, interrupt);
  if (request.bins) return run_with_histogram(request, interrupt);
  if (request.quantile) return run_with_quantiles(request, interrupt);
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
