#include "answers/weights_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "answers/histogram_report.hpp"
#include "cli/sizes.hpp"
#include "draw/bin_groups.hpp"

namespace ooc_run {
namespace {

/// Returns the sums as a list of integers or of doubles.
Json list_of(const std::vector<ooc::Scalar>& sums) {
  if (!sums.empty() && !sums.front().is_integer()) {
    std::vector<double> reals;
    for (const ooc::Scalar& sum : sums) reals.push_back(sum.value());
    return json_list(reals);
  }
  std::vector<ooc::int128> integers;
  for (const ooc::Scalar& sum : sums) integers.push_back(std::get<ooc::int128>(sum));
  return json_list(integers);
}

bool is_finite(const ooc::Scalar& sum) {
  return std::isfinite(sum.value());
}

/// Adds a sum, as NumPy prints it if it is not finite.
void add_sum(TextStream& out, const ooc::Scalar& sum) {
  if (const auto* const integer = std::get_if<ooc::int128>(&sum)) return out.add(*integer);
  const double value = *std::get_if<double>(&sum);
  if (std::isfinite(value)) return out.add(value);
  out.add(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

void print_rows(TextStream& out, const ooc::WeightedHistogram& found) {
  const auto& edges = found.histogram.edges;
  for (std::size_t bin = 0; bin < found.sums.size(); ++bin) {
    out.add(edges[bin]);
    out.add("\t");
    out.add(edges[bin + 1]);
    out.add("\t");
    out.add(found.histogram.counts[bin]);
    out.add("\t");
    add_sum(out, found.sums[bin]);
    out.add("\n");
  }
}

}  // namespace

Json describe_weighted(const ooc::WeightedHistogram& found, const ooc::HistogramOptions& options) {
  Json described = describe_histogram(found.histogram, options);
  described["sums"] = found.histogram.edges.empty() ? Json(nullptr) : list_of(found.sums);
  described["sum_below"] = json_number(found.sum_below);
  described["sum_above"] = json_number(found.sum_above);
  described["sum_nan"] = json_number(found.sum_nan);
  return described;
}

std::string why_not_finite(const ooc::WeightedHistogram& found) {
  const auto finite = std::ranges::count_if(found.sums, is_finite);
  const std::size_t bins = found.sums.size() - static_cast<std::size_t>(finite);
  if (bins == 0) return {};
  return fmt::format("{} of {} {} not finite: weights there are NaN or infinite, or too large",
                     format_count(bins, "sum"), group_digits(std::to_string(found.sums.size())),
                     bins == 1 ? "is" : "are");
}

void print_as_table(ooc::WeightedHistogram found, Outcome& outcome) {
  if (const std::string outside = describe_outside(found.histogram); !outside.empty()) {
    outcome.notes.push_back("not in the table: " + outside);
  }
  outcome.document = Document("lower\tupper\tcount\tsum\n");
  const auto kept = std::make_shared<const ooc::WeightedHistogram>(std::move(found));
  outcome.document.add([kept](TextStream& out) { print_rows(out, *kept); });
}

}  // namespace ooc_run
