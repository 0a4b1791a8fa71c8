#include "answers/value_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/sizes.hpp"

namespace ooc_run {

namespace {

/// Returns the estimate as a whole number, as it is printed.
std::uint64_t rounded_estimate(const ooc::Distinct& found) {
  return static_cast<std::uint64_t>(std::llround(found.estimate));
}

std::string number_text(const ooc::Distinct& found) {
  if (found.distinct) return group_digits(std::to_string(*found.distinct));
  return fmt::format("about {}, with a standard error of {:.2f} %",
                     group_digits(std::to_string(rounded_estimate(found))),
                     100 * ooc::distinct_relative_error);
}

/// Returns lines of rank, value and number, after an empty one. Empty without values.
template <class Values>
std::string ranked(const Values& values, const char* number_name, ooc::ElementType type) {
  if (values.empty()) return {};
  std::vector<std::pair<std::string, std::string>> cells{{"value", number_name}};
  for (const auto& [value, number] : values) {
    cells.emplace_back(format_element(value, type), group_digits(std::to_string(number)));
  }
  std::size_t value_columns = 0, number_columns = 0;
  for (const auto& [value, number] : cells) {
    value_columns = std::max(value_columns, value.size());
    number_columns = std::max(number_columns, number.size());
  }
  std::string text = "\n";
  for (std::size_t rank = 0; rank < cells.size(); ++rank) {
    text += fmt::format("  {:<8}  {:>{}}  {:>{}}\n",
                        rank == 0 ? "rank" : group_digits(std::to_string(rank)), cells[rank].first,
                        value_columns, cells[rank].second, number_columns);
  }
  return text;
}

template <class Found>
std::string counts_text(const Found& found) {
  return fmt::format("  {:<8}  {}\n  {:<8}  {}\n", "count",
                     group_digits(std::to_string(found.count)), "nan",
                     group_digits(std::to_string(found.nan)));
}

template <class Values>
Json describe(const Values& values, const char* number_name) {
  Json described = Json::array();
  for (const auto& [value, number] : values) {
    described.push_back({{"value", json_number(value)}, {number_name, number}});
  }
  return described;
}

template <class Values>
Document tabs(const Values& values, const char* number_name) {
  Document document(fmt::format("value\t{}\n", number_name));
  for (const auto& [value, number] : values) {
    document.add(fmt::format("{}\t{}\n", to_string(value), number));
  }
  return document;
}

}  // namespace

Json describe_top(const ooc::Top& found) {
  return {{"values", describe(found.values, "index")}, {"count", found.count}, {"nan", found.nan}};
}

Json describe_distinct(const ooc::Distinct& found, const ooc::DistinctOptions& options) {
  Json result = Json::object();
  if (found.distinct) {
    result["distinct"] = *found.distinct;
  } else {
    result["estimate"] = rounded_estimate(found);
    result["relative_error"] = ooc::distinct_relative_error;
  }
  if (options.counts != 0) result["counts"] = describe(found.values, "count");
  result["count"] = found.count;
  result["nan"] = found.nan;
  return result;
}

std::string table(const ooc::Top& found, ooc::ElementType type) {
  return "\n" + counts_text(found) + ranked(found.values, "index", type);
}

std::string table(const ooc::Distinct& found, ooc::ElementType type) {
  return fmt::format("\n  {:<8}  {}\n", "distinct", number_text(found)) + counts_text(found) +
         ranked(found.values, "count", type);
}

Document tsv(const ooc::Top& found) {
  return tabs(found.values, "index");
}

Document tsv(const ooc::Distinct& found) {
  return tabs(found.values, "count");
}

std::string why_none(const ooc::Top& found) {
  if (found.nan == 0 || found.nan != found.count) return {};
  return "all values are NaN and left out, so there are none";
}

}  // namespace ooc_run
