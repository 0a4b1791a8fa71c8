#include "draw/edge_labels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ooc_run {
namespace {

bool is_short_integer(double edge) {
  constexpr double longest = 1e15;
  return std::abs(edge) < longest && std::trunc(edge) == edge;
}

bool are_told_apart(std::span<const double> edges, const std::vector<std::string>& labels) {
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i - 1] != edges[i] && labels[i - 1] == labels[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> edge_labels(std::span<const double> edges) {
  const auto with_digits = [&](int digits) {
    std::vector<std::string> labels;
    for (const double edge : edges) labels.push_back(fmt::format("{:.{}g}", edge + 0.0, digits));
    return labels;
  };
  constexpr int exact = std::numeric_limits<double>::max_digits10;
  if (std::ranges::all_of(edges, is_short_integer)) return with_digits(exact);
  for (int digits = 6; digits < exact; ++digits) {
    std::vector<std::string> labels = with_digits(digits);
    if (are_told_apart(edges, labels)) return labels;
  }
  return with_digits(exact);
}

}  // namespace ooc_run
