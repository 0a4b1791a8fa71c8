#include "answers/pairs_report.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <span>

#include "result/json.hpp"

namespace ooc_run {
namespace {

/// Returns a list of the counts for each bin of x.
Json rows_of(const ooc::Histogram2d& histogram) {
  Json rows = Json::array();
  const std::size_t y_bins = histogram.y_edges.size() - 1;
  for (std::size_t i = 0; i < histogram.counts.size(); i += y_bins) {
    rows.push_back(json_list(std::span(histogram.counts).subspan(i, y_bins)));
  }
  return rows;
}

void print_rows(TextStream& out, const ooc::Histogram2d& histogram) {
  const std::size_t y_bins = histogram.y_edges.size() - 1;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const std::size_t x = i / y_bins, y = i % y_bins;
    for (const double edge : {histogram.x_edges[x], histogram.x_edges[x + 1], histogram.y_edges[y],
                              histogram.y_edges[y + 1]}) {
      out.add(edge);
      out.add("\t");
    }
    out.add(histogram.counts[i]);
    out.add("\n");
  }
}

}  // namespace

Json describe_histogram_2d(const ooc::Histogram2d& histogram) {
  Json described{{"x_edges", nullptr},   {"y_edges", nullptr},
                 {"counts", nullptr},    {"outside", histogram.outside},
                 {"nan", histogram.nan}, {"count", histogram.count}};
  if (histogram.counts.empty()) return described;
  described["x_edges"] = json_list(histogram.x_edges);
  described["y_edges"] = json_list(histogram.y_edges);
  described["counts"] = rows_of(histogram);
  return described;
}

void require_counts(const ooc::Histogram2d& histogram, const ooc::Stats& stats) {
  if (!stats.outcome.partial || histogram.count != 0) return;
  throw ooc::Error(ooc::ErrorKind::interrupted, "interrupted before anything was counted");
}

Document tsv(const ooc::Histogram2d& histogram) {
  Document document("x_lower\tx_upper\ty_lower\ty_upper\tcount\n");
  const auto kept = std::make_shared<const ooc::Histogram2d>(histogram);
  document.add([kept](TextStream& out) { print_rows(out, *kept); });
  return document;
}

}  // namespace ooc_run
