#include "commands/axis.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "answers/columns_report.hpp"
#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "dataset/type_doubt.hpp"
#include "draw/columns_plot.hpp"
#include "draw/picture_file.hpp"
#include "request/output_file.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// Makes the elements of a source rows, which must be those of the last of two axes, if its shape
/// is known. Returns their length.
std::uint64_t set_rows(ooc::Source& source, const RowSettings& rows) {
  const std::uint64_t columns = set_columns(source, rows.columns);
  const std::size_t axes = source.row_shape().size() + 1;
  const bool may_be_rows = columns != 1 || source.has_format(ooc::FileFormat::raw);
  if (axes == 2 || (axes == 1 && may_be_rows)) return columns;
  throw ooc::Error(ooc::ErrorKind::usage,
                   axes == 1 ? source.name() + ": has no axis 1"
                             : fmt::format("{}: has {} axes", source.name(), axes),
                   {.why = "--axis 1 is for data of two axes, rows and columns"});
}

}  // namespace

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
  std::optional<PictureFile> picture;
  if (settings.side_files.plot) {
    picture.emplace(*settings.side_files.plot, settings.side_files.replace);
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
  if (picture) {
    const auto draw = [&, &found = columns] {
      return plot_columns(found, request.picture.title.value_or(describe_data(source)));
    };
    write_plot(*picture, "columns", draw, interrupt, outcome);
  }
  if (request.by_column->table) outcome.document = tsv(columns);
  return outcome;
}

Outcome run_by_row(const ReduceRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const auto& [wanted, options, given] = *request.by_row;
  ooc::Source source = open_numbers(settings);
  require_whole_rows(source, settings);
  const std::uint64_t columns = set_rows(source, *request.by_row);
  const std::uint64_t rows = columns == 0 ? 0 : source.elements() / columns;
  const std::string_view value = row_value_names[static_cast<std::size_t>(options.value)];
  const ooc::ElementType made = ooc::row_value_type(source.element(), options.value);
  const bool keeps_type =
      options.value == ooc::RowValue::minimum || options.value == ooc::RowValue::maximum;
  ooc::Target target = wanted;
  target.type = made;
  target.type->is_bool = keeps_type && source.type() && source.type()->is_bool;
  const std::string file = printable(target.path.string());
  require_ending(target.path, made, "the results are");
  if (settings.explain) {
    const Explanation explanation =
        explain_run(settings, rows_task(source), [&](ooc::DeviceKind device) {
          return ooc::dry_run_reduce_rows(settings.options, device, source, target, options,
                                          wanted_of(settings));
        });
    const std::string output = fmt::format("{}: {}", file, describe_values(rows, *target.type));
    return explain("reduce", settings, source, explanation,
                   remarks_on(explanation, settings, output));
  }
  Session session(settings, interrupt, rows_task(source), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [count, stats] =
      ooc::reduce_rows(session.coordinator(), source, target, options, session.pass());
  const Verified verified = session.verify_file("reduce", target.path, stats, [&] {
    const ooc::Source found = ooc::open(target.path, {.type = target.type});
    ooc::verify_reduce_rows(session.coordinator(), source, found, options, session.pass());
  });
  const std::uint64_t bytes = count * ooc::size_of(made);
  Json result{{"value", value},
              {"rows", count},
              {"columns", columns},
              {"to", ooc::code_of(*target.type)},
              {"path", target.path.string()},
              {"bytes_written", bytes}};
  return session.report_files(
      {.command = "reduce",
       .result = answer(std::move(result), stats, verified),
       .text = fmt::format("wrote {}: {} of each row of {}, {}, {}\n", file, value,
                           format_count(columns, "element"), describe_values(count, *target.type),
                           format_bytes(bytes)) +
               verified_line(verified.seconds),
       .writes = true},
      source, file, stats, verified);
}

}  // namespace ooc_run
