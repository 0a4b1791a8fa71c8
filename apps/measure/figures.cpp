#include "measure/figures.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ooc::detail::measure {

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

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

}  // namespace ooc::detail::measure
