#include <fmt/core.h>
#include <unistd.h>
#include <ooc/error.hpp>
#include <ooc/histogram_2d.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "answers/pairs_report.hpp"
#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "commands/commands.hpp"
#include "commands/shard.hpp"
#include "dataset/type_doubt.hpp"
#include "draw/heat_map.hpp"
#include "draw/picture_file.hpp"
#include "parts/questions.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

bool has_structs(const ooc::Source& source) {
  return source.type() && source.type()->is_struct();
}

/// Opens the data: one source with the numbers of both axes, or one for each.
std::vector<ooc::Source> open_pairs(const Histogram2dRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const PairSettings& pairs = request.pairs;
  std::vector<ooc::Source> sources;
  if (settings.files.size() == 2 && pairs.x.column.empty()) {
    for (const std::string& file : settings.files) {
      sources.push_back(open_numbers({&file, 1}, settings));
    }
    if (!pairs.columns) return sources;
    refuse_usage("--columns is of one file of rows",
                 "leave it out: each file has one number of every pair");
  }
  sources.push_back(is_stream(settings.files.front()) ? open_input(settings, interrupt)
                                                      : open_records(settings));
  require_whole_rows(sources.front(), settings);
  if (!has_structs(sources.front())) {
    set_columns(sources.front(), pairs.columns);
  } else if (pairs.columns) {
    refuse_usage("--columns is of rows of numbers", "structs have fields: --axes names two");
  }
  return sources;
}

/// Returns the columns of both axes in one source: those of --axes, or else the only two.
std::array<std::string, 2> columns_in(const ooc::Source& source, const PairSettings& pairs) {
  std::vector<std::string> names;
  if (has_structs(source)) {
    for (const ooc::Field& field : source.type()->fields) names.push_back(field.name);
  } else {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(*source.columns(), 3); ++i) {
      names.push_back(std::to_string(i));
    }
  }
  if (!pairs.x.column.empty()) return {pairs.x.column, pairs.y.column};
  if (names.size() == 2) return {names[0], names[1]};
  throw ooc::Error(
      ooc::ErrorKind::usage,
      fmt::format("{}: which columns are the pairs? It has {}", source.name(),
                  has_structs(source) ? format_count(names.size(), "field")
                                      : format_count(*source.columns(), "column")),
      {.hint = names.size() < 2
                   ? "the other numbers may be in a second file: ooc-run hist2d X Y"
                   : fmt::format("--axes names them: --axes {},{}", names[0], names[1])});
}

std::string text_of(const ooc::Histogram2d& found, const PictureStyle& style) {
  if (found.counts.empty()) return {};
  return draw_heat_map(found, describe_terminal(STDOUT_FILENO), style.logarithmic_counts);
}

/// Returns what an axis shows: "FILE", or "price" for a field and "column 3" for a column.
std::string title_of(const ooc::PairAxis& axis) {
  if (axis.column.empty()) return axis.source.name();
  return has_structs(axis.source) ? axis.column : "column " + axis.column;
}

}  // namespace

Outcome run(const Histogram2dRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  std::optional<PictureFile> picture;
  std::vector<ooc::Source> sources = open_pairs(request, interrupt);
  const bool is_one = sources.size() == 1;
  const auto columns =
      is_one ? columns_in(sources.front(), request.pairs) : std::array<std::string, 2>{};
  if (request.shard) {
    PairSettings pairs = request.pairs;
    std::tie(pairs.x.column, pairs.y.column) = std::tie(columns[0], columns[1]);
    return run_shard(settings, *request.shard, *pairs_question(pairs), sources, interrupt);
  }
  const ooc::PairAxis x{sources.front(), columns[0], request.pairs.x.bins};
  const ooc::PairAxis y{sources.back(), columns[1], request.pairs.y.bins};
  const std::size_t passes = ooc::histogram_2d_passes(x, y);
  if (settings.explain) {
    const Explanation explanation = explain_histogram_2d(settings, sources, x, y, passes);
    return explain("hist2d", settings, sources, explanation, remarks_on(explanation, settings));
  }
  if (settings.side_files.plot) {
    picture.emplace(*settings.side_files.plot, settings.side_files.replace);
  }
  Session session(settings, interrupt, histogram_2d_task(sources, passes), settings.verify ? 1 : 0);
  for (const ooc::Source& source : sources) session.warn(type_doubt(source, settings.format));
  const auto [found, stats] = ooc::histogram_2d(session.coordinator(), x, y, session.pass());
  require_counts(found, stats);
  const Verified verified = session.verify(stats, [&, &found = found] {
    ooc::verify_histogram_2d(session.coordinator(), x, y, found, session.pass());
  });
  const bool as_json = settings.output.json || settings.side_files.report;
  const bool as_text = !settings.output.json && !request.table;
  Outcome outcome = session.report("hist2d", sources, stats,
                                   as_json ? describe_histogram_2d(found) : Json::object(),
                                   as_text ? text_of(found, request.picture) : "", verified);
  if (picture && found.counts.empty()) {
    outcome.notes.push_back("no picture: there are no pairs");
  } else if (picture) {
    const HeatMap map{.title = request.picture.title.value_or(describe_data(x.source)),
                      .x_title = title_of(x),
                      .y_title = title_of(y),
                      .logarithmic = request.picture.logarithmic_counts};
    const auto draw = [&, &found = found] { return plot_heat_map(found, map); };
    write_plot(*picture, "histogram", draw, interrupt, outcome);
  }
  if (!request.table) return outcome;
  session.warn(describe_partial(sources, stats));
  outcome.document = tsv(found);
  return outcome;
}

}  // namespace ooc_run
