#include "commands/columns.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include "answers/columns_report.hpp"
#include "cli/sizes.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {

std::uint64_t set_columns(ooc::Source& source, const std::optional<std::uint64_t>& wanted) {
  if (source.has_format(ooc::FileFormat::raw)) {
    if (!wanted) {
      throw ooc::Error(ooc::ErrorKind::usage, fmt::format("{}: has no rows", source.name()),
                       {.why = "raw data do not say how long a row is",
                        .hint = "--columns N says how many elements it has"});
    }
    source.set_columns(*wanted);
  }
  if (!source.columns()) {
    throw ooc::Error(ooc::ErrorKind::bad_input,
                     fmt::format("{}: the files have rows of different lengths", source.name()));
  }
  const std::uint64_t columns = *source.columns();
  if (!wanted || *wanted == columns) return columns;
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("--columns {}: {} has rows of {}", *wanted, source.name(),
                               format_count(columns, "element")),
                   {.hint = "leave --columns out"});
}

Outcome run_by_column(const ReduceRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::ReduceOptions& options = request.reduce;
  ooc::Source source = open_input(settings, interrupt);
  require_whole_rows(source, settings);
  set_columns(source, request.by_column->columns);
  if (settings.explain) {
    const Explanation explanation = explain_columns(settings, source, options);
    return explain("reduce", settings, source, explanation, remarks_on(explanation, settings));
  }
  Session session(settings, interrupt, reduce_task(source, options), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [columns, stats] =
      ooc::reduce_columns(session.coordinator(), source, options, session.pass());
  const Verified verified = session.verify(stats, [&, &found = columns] {
    ooc::verify_reduce_columns(session.coordinator(), source, options, found, session.pass());
  });
  session.warn(why_nan(columns, options));
  const bool as_json = settings.output.json || settings.side_files.report;
  Outcome outcome = session.report(
      "reduce", source, stats, as_json ? describe_columns(columns, options) : Json::object(),
      settings.output.json || request.by_column->table ? "" : table(columns, source.element()),
      verified);
  if (request.by_column->table) outcome.document = tsv(columns);
  return outcome;
}

}  // namespace ooc_run
