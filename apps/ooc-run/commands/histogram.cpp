#include <ooc/histogram.hpp>

#include "answers/bin_table.hpp"
#include "answers/histogram_report.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

Outcome run(const HistogramRequest& request, const Interrupt& interrupt) {
  if (request.shard) {
    return run_shard(request.run, *request.shard,
                     {.command = "histogram", .histogram = request.bins}, interrupt);
  }
  const RunSettings& settings = request.run;
  const ooc::HistogramOptions& options = request.bins;
  HistogramPicture picture(settings.side_files, options, request.picture);
  const ooc::Source source = open_input(settings, interrupt);
  if (settings.explain) {
    const Explanation explanation = explain_histogram(settings, source, options);
    return explain("histogram", settings, source, explanation, remarks_on(explanation, settings));
  }
  picture.begin();
  Session session(settings, interrupt, histogram_task(source, options), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  auto [histogram, stats] = ooc::histogram(session.coordinator(), source, options, session.pass());
  require_counts(histogram, stats);
  const Verified verified = session.verify(stats, [&, &found = histogram] {
    ooc::verify_histogram(session.coordinator(), source, options, found, session.pass());
  });
  Outcome outcome =
      session.report("histogram", source, stats, describe_histogram(histogram, options),
                     picture.bars(histogram), verified, picture.figure(histogram));
  note_bins(histogram, options, source.element(), outcome);
  picture.write(histogram, describe_data(source), interrupt, outcome);
  if (!request.table) return outcome;
  if (outcome.partial) session.warn(describe_partial({&source, 1}, stats));
  print_as_table(std::move(histogram), *request.table, outcome);
  return outcome;
}

}  // namespace ooc_run
