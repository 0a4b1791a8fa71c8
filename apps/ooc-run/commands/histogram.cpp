#include <ooc/kernels/histogram.hpp>

#include "commands/commands.hpp"
#include "commands/histogram_options.hpp"
#include "commands/histogram_report.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

Outcome run_histogram(const Arguments& arguments, const Interrupt& interrupt) {
  const RunSettings settings = read_run_settings(arguments);
  const ooc::HistogramOptions options = read_histogram_options(arguments, "bins");
  HistogramPicture picture(arguments);
  const ooc::Source source = open_numbers(arguments, settings);
  if (arguments.has("explain")) {
    const Explanation plan = explain_histogram(settings, source, options);
    return explain("histogram", settings, source, plan, remarks_on(plan, arguments));
  }
  picture.begin();
  Session session(settings, interrupt, histogram_task(source, options),
                  arguments.has("verify") ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [histogram, stats] =
      ooc::histogram(session.coordinator(), source, options, session.pass());
  require_counts(histogram, stats);
  const Verified verified = session.verify(arguments, stats, [&, &found = histogram] {
    ooc::verify_histogram(session.coordinator(), source, options, found, session.pass());
  });
  Outcome outcome = session.report("histogram", source, stats, describe_histogram(histogram),
                                   draw(histogram, arguments), verified, picture.figure(histogram));
  note_crowded_bin(histogram, options, source.element(), outcome);
  picture.write(histogram, heading(source), interrupt, outcome);
  return outcome;
}

}  // namespace ooc_run
