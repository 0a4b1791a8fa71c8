#include "answers/top_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/sizes.hpp"

namespace ooc_run {

Json describe_top(const ooc::Top& found) {
  Json values = Json::array();
  for (const auto& [value, index] : found.values) {
    values.push_back({{"value", json_number(value)}, {"index", index}});
  }
  return {{"values", std::move(values)}, {"count", found.count}, {"nan", found.nan}};
}

std::string table(const ooc::Top& found, ooc::ElementType type) {
  std::string text = fmt::format("\n  {:<8}  {}\n  {:<8}  {}\n", "count",
                                 group_digits(std::to_string(found.count)), "nan",
                                 group_digits(std::to_string(found.nan)));
  if (found.values.empty()) return text;
  std::vector<std::pair<std::string, std::string>> cells{{"value", "index"}};
  for (const auto& [value, index] : found.values) {
    cells.emplace_back(format_element(value, type), group_digits(std::to_string(index)));
  }
  std::size_t value_columns = 0, index_columns = 0;
  for (const auto& [value, index] : cells) {
    value_columns = std::max(value_columns, value.size());
    index_columns = std::max(index_columns, index.size());
  }
  text += "\n";
  for (std::size_t rank = 0; rank < cells.size(); ++rank) {
    text += fmt::format("  {:<8}  {:>{}}  {:>{}}\n",
                        rank == 0 ? "rank" : group_digits(std::to_string(rank)), cells[rank].first,
                        value_columns, cells[rank].second, index_columns);
  }
  return text;
}

Document tsv(const ooc::Top& found) {
  Document document("value\tindex\n");
  for (const auto& [value, index] : found.values) {
    document.add(fmt::format("{}\t{}\n", to_string(value), index));
  }
  return document;
}

std::string why_none(const ooc::Top& found) {
  if (found.nan == 0 || found.nan != found.count) return {};
  return "all values are NaN and left out, so there are none";
}

}  // namespace ooc_run
