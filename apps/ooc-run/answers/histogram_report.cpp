#include "answers/histogram_report.hpp"

#include <fmt/core.h>
#include <unistd.h>
#include <ooc/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "draw/bars.hpp"

namespace ooc_run {

namespace {

/// Returns the name of the rule for the bins. Empty for a number of bins and for --edges.
std::string_view rule_of(const ooc::HistogramOptions& options) {
  const std::optional<ooc::BinRule> rule = options.bins.rule();
  if (!rule || !options.edges.empty()) return {};
  return bin_rule_names[static_cast<std::size_t>(*rule)];
}

}  // namespace

Json describe_histogram(const ooc::Histogram& histogram, const ooc::HistogramOptions& options) {
  Json described{{"bins", nullptr},          {"lower", nullptr},     {"upper", nullptr},
                 {"edges", nullptr},         {"counts", nullptr},    {"below", histogram.below},
                 {"above", histogram.above}, {"nan", histogram.nan}, {"count", histogram.count}};
  if (const std::string_view rule = rule_of(options); !rule.empty()) described["rule"] = rule;
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

namespace {

void note_crowded_bin(const ooc::Histogram& histogram, ooc::ElementType type, Outcome& outcome) {
  constexpr std::size_t few_bins = 10;
  constexpr double nearly_all = 0.98;
  if (histogram.counts.size() < few_bins || ooc::size_of(type) == 1) return;
  const std::uint64_t most = std::ranges::max(histogram.counts);
  const std::uint64_t all = histogram.count - histogram.nan - histogram.below - histogram.above;
  const double share = static_cast<double>(most) / static_cast<double>(all);
  if (most == all || share < nearly_all) return;
  outcome.notes.push_back(fmt::format(
      "{:.1f} % of the values lie in one bin; --log-bins{} or another --range shows more",
      std::min(100 * share, 99.9), histogram.edges.front() > 0 ? "" : " with a range above zero"));
}

/// Returns the smallest and the largest number of integers in a bin. Ignores the last bin, which
/// also includes its upper edge.
std::pair<double, double> integers_in_bins(const std::vector<double>& edges) {
  double fewest = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t i = 2; i < edges.size(); ++i) {
    const double held = std::ceil(edges[i - 1]) - std::ceil(edges[i - 2]);
    fewest = std::min(fewest, held);
    most = std::max(most, held);
  }
  return {fewest, most};
}

void note_uneven_bins(const ooc::Histogram& histogram, ooc::ElementType type, Outcome& outcome) {
  constexpr double widest_seen = 20;        // with wider bins, one more integer is a few percent
  constexpr double all_exact = 1ull << 53;  // doubles below can represent all integers
  if (is_float(type) || histogram.counts.size() < 2) return;
  const double lower = histogram.edges.front(), upper = histogram.edges.back();
  const double width = (upper - lower) / static_cast<double>(histogram.counts.size());
  const bool is_exact = std::max(std::abs(lower), std::abs(upper)) < all_exact;
  if (!is_exact || lower != std::floor(lower) || width > widest_seen) return;
  const auto [fewest, most] = integers_in_bins(histogram.edges);
  if (fewest >= most) return;
  const double each = std::ceil(width);
  const double bins = std::ceil((std::floor(upper) - lower + 1) / each);
  outcome.notes.push_back(
      fmt::format("bins hold {} to {} integers each, so equal counts look like a comb; {} over the "
                  "range {:.0f}:{:.0f} hold {} each",
                  fewest, most, format_count(static_cast<std::uint64_t>(bins), "bin"), lower,
                  lower + bins * each, each));
}

}  // namespace

void note_bins(const ooc::Histogram& histogram, const ooc::HistogramOptions& options,
               ooc::ElementType type, Outcome& outcome) {
  if (!options.edges.empty() || options.logarithmic || histogram.counts.empty()) return;
  note_crowded_bin(histogram, type, outcome);
  note_uneven_bins(histogram, type, outcome);
}

HistogramPicture::HistogramPicture(const SideFiles& files, const ooc::HistogramOptions& options,
                                   const PictureStyle& style)
    : files_(files), options_(options), style_(style) {}

void HistogramPicture::begin() {
  if (files_.plot) file_.emplace(*files_.plot, files_.replace);
}

std::string HistogramPicture::bars(const ooc::Histogram& histogram) const {
  if (histogram.edges.empty()) return {};
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  const bool own_edges = !options_.edges.empty(), logarithmic = style_.logarithmic_counts;
  const std::string_view rule = rule_of(options_);
  const std::string heading =
      fmt::format("{}{} from {} to {}{}{}", format_count(histogram.counts.size(), "bin"),
                  rule.empty() ? "" : fmt::format(" (by the rule {})", rule),
                  format_real(histogram.edges.front()), format_real(histogram.edges.back()),
                  describe_rows(histogram, terminal, own_edges), logarithmic ? ", log scale" : "");
  return lines_for_stdout(heading) + "\n" +
         draw_histogram(histogram, terminal, logarithmic, own_edges);
}

std::string HistogramPicture::bars(const ooc::WeightedHistogram& found) const {
  const auto& [edges, counts, below, above, nan, count] = found.histogram;
  if (edges.empty()) return {};
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  const std::string heading = fmt::format(
      "{} from {} to {}, sums of weights{}", format_count(counts.size(), "bin"),
      format_real(edges.front()), format_real(edges.back()), describe_sum_rows(found, terminal));
  return lines_for_stdout(heading) + "\n" + draw_sums(found, terminal);
}

HistogramPlot HistogramPicture::plot(const std::string& title) const {
  return {.title = style_.title.value_or(title),
          .value_title = style_.value_title,
          .logarithmic_counts = style_.logarithmic_counts,
          .logarithmic_values = options_.logarithmic,
          .own_edges = !options_.edges.empty()};
}

std::string HistogramPicture::figure(const ooc::Histogram& histogram) const {
  return files_.report ? histogram_figure(histogram, plot({})) : std::string{};
}

std::string HistogramPicture::figure(const ooc::WeightedHistogram& found) const {
  return files_.report && can_plot_sums(found) ? sums_figure(found, plot({})) : std::string{};
}

void HistogramPicture::write(const ooc::WeightedHistogram& found, const std::string& title,
                             const Interrupt& interrupt, Outcome& outcome) {
  if (!file_) return;
  if (!can_plot_sums(found)) {
    outcome.fail(
        {ooc::ErrorKind::output,
         file_->path().string() + ": not drawn, since some sums are negative or not finite",
         {.why = "bars show sums from 0 on", .hint = "--tsv and --json have them"}});
    return;
  }
  const auto draw_picture = [&] { return plot_sums(found, plot(title)); };
  write_plot(*file_, "histogram", draw_picture, interrupt, outcome);
}

void HistogramPicture::write(const ooc::Histogram& histogram, const std::string& title,
                             const Interrupt& interrupt, Outcome& outcome) {
  if (!file_) return;
  const auto draw_picture = [&] { return plot_histogram(histogram, plot(title)); };
  write_plot(*file_, "histogram", draw_picture, interrupt, outcome);
}

}  // namespace ooc_run
