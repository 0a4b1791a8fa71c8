#include "commands/histogram_report.hpp"

#include <fmt/core.h>
#include <unistd.h>
#include <ooc/error.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "draw/bars.hpp"

namespace ooc_run {

Json describe_histogram(const ooc::Histogram& histogram) {
  Json described{{"bins", nullptr},          {"lower", nullptr},     {"upper", nullptr},
                 {"edges", nullptr},         {"counts", nullptr},    {"below", histogram.below},
                 {"above", histogram.above}, {"nan", histogram.nan}, {"count", histogram.count}};
  if (histogram.edges.empty()) return described;
  described["bins"] = histogram.counts.size();
  described["lower"] = histogram.edges.front();
  described["upper"] = histogram.edges.back();
  described["edges"] = json_list(histogram.edges);
  described["counts"] = json_list(histogram.counts);
  return described;
}

void require_counts(const ooc::Histogram& histogram, const ooc::Stats& stats) {
  if (!stats.outcome.partial || histogram.count != 0) return;
  throw ooc::Error(ooc::ErrorKind::interrupted, "interrupted before anything was counted");
}

void note_crowded_bin(const ooc::Histogram& histogram, const ooc::HistogramOptions& options,
                      ooc::ElementType type, Outcome& outcome) {
  constexpr std::size_t few_bins = 10;
  constexpr double nearly_all = 0.98;
  const bool chosen = !options.edges.empty() || options.logarithmic;
  if (chosen || histogram.counts.size() < few_bins || ooc::size_of(type) == 1) return;
  const std::uint64_t most = std::ranges::max(histogram.counts);
  const std::uint64_t all = histogram.count - histogram.nan - histogram.below - histogram.above;
  const double share = static_cast<double>(most) / static_cast<double>(all);
  if (most == all || share < nearly_all) return;
  outcome.notes.push_back(fmt::format(
      "{:.1f} % of the values lie in one bin; --log-bins{} or another --range shows more",
      std::min(100 * share, 99.9), histogram.edges.front() > 0 ? "" : " with a range above zero"));
}

HistogramPicture::HistogramPicture(const SideFiles& files, const ooc::HistogramOptions& options,
                                   bool logarithmic_counts)
    : files_(files), options_(options), logarithmic_counts_(logarithmic_counts) {}

void HistogramPicture::begin() {
  if (files_.plot) file_.emplace(*files_.plot, files_.replace);
}

std::string HistogramPicture::bars(const ooc::Histogram& histogram) const {
  if (histogram.edges.empty()) return {};
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  return fmt::format("{} from {} to {}{}{}\n\n{}", format_count(histogram.counts.size(), "bin"),
                     format_real(histogram.edges.front()), format_real(histogram.edges.back()),
                     describe_rows(histogram, terminal), logarithmic_counts_ ? ", log scale" : "",
                     draw_histogram(histogram, terminal, logarithmic_counts_));
}

HistogramPlot HistogramPicture::plot(std::string title) const {
  return {.title = std::move(title),
          .logarithmic_counts = logarithmic_counts_,
          .logarithmic_values = options_.logarithmic};
}

std::string HistogramPicture::figure(const ooc::Histogram& histogram) const {
  return files_.report ? histogram_figure(histogram, plot({})) : std::string{};
}

void HistogramPicture::write(const ooc::Histogram& histogram, const std::string& title,
                             const Interrupt& interrupt, Outcome& outcome) {
  if (!file_) return;
  const auto draw_picture = [&] { return plot_histogram(histogram, plot(title)); };
  write_plot(*file_, "histogram", draw_picture, interrupt, outcome);
}

}  // namespace ooc_run
