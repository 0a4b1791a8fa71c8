#include <ooc/quantile.hpp>
#include <optional>
#include <vector>

#include "answers/quantile_report.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "draw/distribution_plot.hpp"
#include "draw/picture_file.hpp"
#include "parts/questions.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

Outcome run(const QuantileRequest& request, const Interrupt& interrupt) {
  if (request.shard) {
    return run_shard(request.run, *request.shard, *quantile_question(request.quantile), interrupt);
  }
  const RunSettings& settings = request.run;
  const ooc::QuantileOptions options =
      request.has_curve ? with_curve(request.quantile) : request.quantile;
  const ooc::Source source = open_input(settings, interrupt);
  const std::size_t passes = ooc::quantile_passes(source.element(), options);
  if (settings.explain) {
    const Explanation explanation = explain_quantile(settings, source, options, passes);
    return explain("quantile", settings, source, explanation, remarks_on(explanation, settings));
  }
  std::optional<PictureFile> picture;
  if (settings.side_files.plot) {
    picture.emplace(*settings.side_files.plot, settings.side_files.replace);
  }
  Session session(settings, interrupt, quantile_task(source, passes), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  auto [found, stats] = ooc::quantile(session.coordinator(), source, options, session.pass());
  require_quantiles(stats);
  const Verified verified = session.verify(stats, [&, &found = found] {
    ooc::verify_quantile(session.coordinator(), source, options, found, session.pass());
  });
  const std::vector<DistributionPoint> curve = points_of(found.quantiles);
  found.quantiles.resize(request.quantile.q.size());
  session.warn(why_nan(found, options));
  Outcome outcome = session.report("quantile", source, stats, describe_quantiles(found, options),
                                   table(found, source.element(), options), verified);
  if (picture && curve.empty()) {
    outcome.notes.push_back("no picture: no quantile is finite");
  } else if (picture) {
    const std::vector<DistributionPoint> marked = points_of(found.quantiles);
    const auto draw = [&] {
      return plot_distribution({.title = request.picture.title.value_or(describe_data(source)),
                                .value_title = request.picture.value_title,
                                .curve = curve,
                                .marked = marked});
    };
    write_plot(*picture, "distribution", draw, interrupt, outcome);
  }
  if (request.table) outcome.document = tsv(found);
  return outcome;
}

}  // namespace ooc_run
