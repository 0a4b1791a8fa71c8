#include "figures.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ooc::measure {

Spread spread_of(std::vector<double> figures) {
  if (figures.empty()) return {};
  std::ranges::sort(figures);
  const std::size_t middle = figures.size() / 2;
  const double median =
      figures.size() % 2 == 1 ? figures[middle] : (figures[middle - 1] + figures[middle]) / 2;
  return {median, figures.front(), figures.back(), figures.size()};
}

nlohmann::ordered_json describe(const Spread& spread) {
  return {
      {"median", spread.median}, {"min", spread.min}, {"max", spread.max}, {"runs", spread.runs}};
}

}  // namespace ooc::measure
