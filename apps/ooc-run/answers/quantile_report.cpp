#include "answers/quantile_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "cli/options.hpp"
#include "cli/sizes.hpp"

namespace ooc_run {

namespace {

struct Row {
  std::string name, value, note;
};
using Rows = std::vector<Row>;

Rows rows_for(const ooc::Quantiles& found, ooc::ElementType type) {
  Rows rows;
  for (const ooc::Quantile& each : found.quantiles) {
    const bool is_element = each.value == each.lower || each.value == each.upper;
    rows.push_back({format_real(each.q),
                    is_element ? format_element(each.value, type) : format_number(each.value), ""});
  }
  return rows;
}

std::string lines_of(const Rows& rows) {
  std::size_t columns = 0;
  for (const Row& row : rows) columns = std::max(columns, row.value.size());
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("  {:<8}  {:>{}}{}\n", row.name, row.value, columns, row.note);
  }
  return text;
}

}  // namespace

void require_quantiles(const ooc::Stats& stats) {
  if (!stats.outcome.partial) return;
  throw ooc::Error(ooc::ErrorKind::interrupted, "interrupted before the quantiles were found");
}

Json describe_quantiles(const ooc::Quantiles& found, const ooc::QuantileOptions& options) {
  Json quantiles = Json::array();
  for (const ooc::Quantile& each : found.quantiles) {
    quantiles.push_back({{"q", each.q}, {"value", json_number(each.value)}});
  }
  Json result{{"method", quantile_method_names[static_cast<std::size_t>(options.method)]},
              {"quantiles", std::move(quantiles)},
              {"count", found.count},
              {"nan", found.nan}};
  if (options.nan == ooc::NanPolicy::omit) result["omitted"] = found.nan;
  return result;
}

std::string rows_of(const ooc::Quantiles& found, ooc::ElementType type) {
  return lines_of(rows_for(found, type));
}

std::string table(const ooc::Quantiles& found, ooc::ElementType type,
                  const ooc::QuantileOptions& options) {
  Rows rows = rows_for(found, type);
  const bool is_omitted = options.nan == ooc::NanPolicy::omit;
  rows.insert(rows.begin(),
              {{"count", group_digits(std::to_string(found.count)), ""},
               {"nan", group_digits(std::to_string(found.nan)), is_omitted ? "  omitted" : ""}});
  return "\n" + lines_of(rows);
}

Document tsv(const ooc::Quantiles& found) {
  Document document("q\tvalue\n");
  for (const ooc::Quantile& each : found.quantiles) {
    const std::string value = each.value.has_value() ? to_string(each.value) : "nan";
    document.add(fmt::format("{}\t{}\n", to_string(ooc::Scalar{each.q}), value));
  }
  return document;
}

ooc::QuantileOptions with_curve(ooc::QuantileOptions options) {
  constexpr std::size_t percentiles = 101;  // types of four bytes still take two passes
  const std::size_t count = std::min(percentiles, ooc::max_quantiles - options.q.size());
  for (std::size_t i = 0; i < count; ++i) {
    options.q.push_back(count == 1 ? 1 : static_cast<double>(i) / static_cast<double>(count - 1));
  }
  return options;
}

std::vector<DistributionPoint> points_of(std::span<const ooc::Quantile> quantiles) {
  std::vector<DistributionPoint> points;
  for (const ooc::Quantile& each : quantiles) {
    if (!each.value.has_value()) continue;
    const double value = each.value.value();
    if (std::isfinite(value)) points.push_back({value, each.q});
  }
  std::ranges::stable_sort(points, {}, &DistributionPoint::q);
  return points;
}

std::string why_nan(const ooc::Quantiles& found, const ooc::QuantileOptions& options) {
  if (found.nan != 0 && options.nan == ooc::NanPolicy::propagate) {
    return fmt::format("{} NaN, and so are the quantiles; --nan omit leaves NaN out",
                       found.nan == 1 ? "1 value is" : format_count(found.nan, "value") + " are");
  }
  if (found.nan != 0 && found.nan == found.count) {
    return "all values are NaN and left out, so there are no quantiles";
  }
  const auto is_nan = [](const ooc::Quantile& each) {
    const auto* const value = std::get_if<double>(&each.value);
    return value != nullptr && std::isnan(*value);
  };
  if (std::ranges::none_of(found.quantiles, is_nan)) return {};
  return "some quantiles are nan, since interpolation with an infinity is; --method lower takes a "
         "value of the data";
}

}  // namespace ooc_run
