#include <fmt/core.h>
#include <unistd.h>
#include <ooc/io/error.hpp>
#include <ooc/kernels/histogram.hpp>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "failure.hpp"
#include "histogram_plot.hpp"
#include "picture.hpp"
#include "picture_file.hpp"
#include "run_plan.hpp"
#include "session.hpp"
#include "sizes.hpp"

namespace ooc_run {
namespace {

std::size_t parse_bins(std::string_view text) {
  const std::uint64_t bins = parse_count(text);
  if (bins == 0 || bins > ooc::max_bins) {
    refuse_usage(fmt::format("bins must be 1 to {}", ooc::max_bins), {});
  }
  return bins;
}

double parse_finite(std::string_view text) {
  const double value = parse_real(text);
  if (std::isinf(value))
    refuse_usage("an edge must be finite", "infinities count as below and above");
  return value;
}

ooc::HistogramOptions::Range parse_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    refuse_usage("a range has two ends", "--range LO:HI, as -1:2.5");
  const ooc::HistogramOptions::Range range{parse_finite(text.substr(0, colon)),
                                           parse_finite(text.substr(colon + 1))};
  if (range.lower > range.upper) {
    refuse_usage("the lower end is above the upper", "--range LO:HI, as -1:2.5");
  }
  return range;
}

std::vector<double> parse_edges(std::string_view text) {
  std::vector<double> edges;
  for (;;) {
    const std::size_t comma = text.find(',');
    edges.push_back(parse_finite(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (edges.size() < 2) refuse_usage("a bin has two edges", "--edges 0,1,10 makes two bins");
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i - 1] > edges[i])
      refuse_usage("edges must not fall", "--edges 0,1,10 makes two bins");
  }
  return edges;
}

ooc::HistogramOptions histogram_options(const Arguments& arguments) {
  ooc::HistogramOptions options;
  options.edges = arguments.get("edges", parse_edges).value_or(options.edges);
  options.bins = arguments.get("bins", parse_bins).value_or(options.bins);
  options.range = arguments.get("range", parse_range);
  options.logarithmic = arguments.has("log-bins");
  return options;
}

Json describe(const ooc::Histogram& histogram) {
  if (histogram.count == 0) {
    Json empty;
    for (const char* key : {"bins", "lower", "upper", "edges", "counts", "below", "above", "nan"}) {
      empty[key] = nullptr;
    }
    empty["count"] = 0;
    return empty;
  }
  return {{"bins", histogram.counts.size()}, {"lower", histogram.edges.front()},
          {"upper", histogram.edges.back()}, {"edges", histogram.edges},
          {"counts", histogram.counts},      {"below", histogram.below},
          {"above", histogram.above},        {"nan", histogram.nan},
          {"count", histogram.count}};
}

Outcome explain(const Arguments& arguments, const RunSettings& settings, const ooc::Source& source,
                const ooc::HistogramOptions& options) {
  const RunPlan plan = plan_histogram(settings, source, options);
  Remarks remarks;
  if (plan.pass.passes > 1) {
    remarks.reasons.push_back(
        "two passes: the first finds the range of the bins, which --range would give");
  }
  if (plan.pass.passes > 1 && !plan.pass.direct && plan.pass.page_cache_fraction.value_or(0) < 1) {
    remarks.reasons.emplace_back(
        "the second pass may be read in another way, from what the first brings into the page "
        "cache");
  }
  if (arguments.has("verify")) remarks.reasons.emplace_back(remark_of_verify);
  return explain("histogram", settings, source, plan, remarks);
}

std::string draw(const ooc::Histogram& histogram, bool logarithmic_bars) {
  if (histogram.count == 0) return {};
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  return fmt::format("{} from {} to {}{}{}\n\n{}", format_count(histogram.counts.size(), "bin"),
                     format_real(histogram.edges.front()), format_real(histogram.edges.back()),
                     describe_rows(histogram, terminal), logarithmic_bars ? ", log scale" : "",
                     draw_histogram(histogram, terminal, logarithmic_bars));
}

}  // namespace

Outcome run_histogram(const Arguments& arguments, const Interrupt& interrupt) {
  const RunSettings settings = read_run_settings(arguments);
  const ooc::HistogramOptions options = histogram_options(arguments);
  const auto plot_path = PictureFile::read_path(arguments);
  const ooc::Source source = open_source(arguments, settings);
  if (arguments.has("explain")) return explain(arguments, settings, source, options);
  std::optional<PictureFile> plot;  // that there can be none is to be known before
  if (plot_path) plot.emplace(*plot_path, arguments.has("force"));
  Session session(settings, interrupt, histogram_task(source, options),
                  arguments.has("verify") ? 1 : 0);
  const auto [histogram, stats] = ooc::histogram(session.coordinator(), source, options);
  if (stats.partial && histogram.count == 0) {
    throw ooc::Error(ooc::Cause::interrupted, "interrupted before anything was counted");
  }
  const Verified verified = session.verify(arguments, stats, [&, &found = histogram] {
    ooc::verify_histogram(session.coordinator(), source, options, found);
  });
  const bool logarithmic = arguments.has("log-scale");
  Outcome outcome = session.report("histogram", source, stats, describe(histogram),
                                   draw(histogram, logarithmic), verified);
  if (plot) {
    const HistogramPlot picture{.title = heading(source),
                                .logarithmic_counts = logarithmic,
                                .logarithmic_values = options.logarithmic};
    const auto draw_picture = [&, &found = histogram] { return plot_histogram(found, picture); };
    write_plot(*plot, "histogram", draw_picture, interrupt, outcome);
    if (settings.output.quiet) outcome.notes.clear();
  }
  return outcome;
}

}  // namespace ooc_run
