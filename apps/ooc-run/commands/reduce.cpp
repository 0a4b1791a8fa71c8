#include <fmt/core.h>
#include <ooc/detail/kernels/summary.hpp>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/sizes.hpp"
#include "commands/commands.hpp"
#include "commands/histogram_report.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

Json json_index(const std::optional<std::uint64_t>& index) {
  return index ? Json(*index) : Json(nullptr);
}

Json describe(const ooc::Statistics& statistics, bool exact) {
  Json result{{"count", statistics.count},
              {"nan", statistics.nan},
              {"sum", json_number(statistics.sum)},
              {"min", json_number(statistics.min)},
              {"argmin", json_index(statistics.argmin)},
              {"max", json_number(statistics.max)},
              {"argmax", json_index(statistics.argmax)},
              {"mean", json_number(statistics.mean)},
              {"variance", json_number(statistics.variance)},
              {"stddev", json_number(statistics.stddev)}};
  if (exact) result["exact"] = true;
  return result;
}

/// Returns the statistics as lines of a name, a value, and the index of the value if it has one.
std::string table(const ooc::Statistics& statistics, ooc::ElementType type, bool exact) {
  const auto index_note = [](const std::optional<std::uint64_t>& index) {
    return index ? "  at " + group_digits(std::to_string(*index)) : "";
  };
  const auto real = [](const std::optional<double>& value) {
    return value ? format_real(*value) : "-";
  };
  const std::string_view rounded = exact ? "  correctly rounded" : "";
  struct Row {
    std::string_view name;
    std::string value, note;
  };
  const std::array rows{
      Row{"count", group_digits(std::to_string(statistics.count)), ""},
      Row{"nan", group_digits(std::to_string(statistics.nan)), ""},
      Row{"sum", format_number(statistics.sum), std::string(rounded)},
      Row{"min", format_element(statistics.min, type), index_note(statistics.argmin)},
      Row{"max", format_element(statistics.max, type), index_note(statistics.argmax)},
      Row{"mean", real(statistics.mean), std::string(rounded)},
      Row{"variance", real(statistics.variance), ""},
      Row{"stddev", real(statistics.stddev), ""},
  };
  std::size_t columns = 0;
  for (const Row& row : rows) columns = std::max(columns, row.value.size());
  std::string text = "\n";
  for (const Row& row : rows) {
    text += fmt::format("  {:<8}  {:>{}}{}\n", row.name, row.value, columns, row.note);
  }
  return text;
}

void note_nan(const ooc::Statistics& statistics, const ooc::ReduceOptions& options,
              Outcome& outcome) {
  if (statistics.nan == 0 || options.nan == ooc::NanPolicy::omit) return;
  outcome.notes.push_back(fmt::format(
      "{} NaN, and so are the statistics; --nan omit leaves NaN out",
      statistics.nan == 1 ? "1 value is" : format_count(statistics.nan, "value") + " are"));
}

Outcome run_with_histogram(const ReduceRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::SummaryOptions options{request.reduce, *request.bins};
  HistogramPicture picture(settings.side_files, *request.bins, request.logarithmic_counts);
  const ooc::Source source = open_input(settings);
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
  Json result = describe(summary.statistics, options.reduce.exact);
  result["histogram"] = answer(describe_histogram(summary.histogram), stats, verified);
  const std::string bars = picture.bars(summary.histogram);
  const std::string text = table(summary.statistics, source.element(), options.reduce.exact);
  Outcome outcome = session.report("reduce", source, stats, std::move(result),
                                   bars.empty() ? text : text + "\n" + bars, verified,
                                   picture.figure(summary.histogram));
  note_nan(summary.statistics, options.reduce, outcome);
  note_crowded_bin(summary.histogram, options.histogram, source.element(), outcome);
  picture.write(summary.histogram, heading(source), interrupt, outcome);
  return outcome;
}

}  // namespace

Outcome run(const ReduceRequest& request, const Interrupt& interrupt) {
  if (request.bins) return run_with_histogram(request, interrupt);
  const RunSettings& settings = request.run;
  const ooc::ReduceOptions& options = request.reduce;
  const ooc::Source source = open_input(settings);
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
  Outcome outcome = session.report("reduce", source, stats, describe(statistics, options.exact),
                                   table(statistics, source.element(), options.exact), verified);
  note_nan(statistics, options, outcome);
  return outcome;
}

}  // namespace ooc_run
