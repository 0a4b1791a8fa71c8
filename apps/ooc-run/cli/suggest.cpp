#include "cli/suggest.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace ooc_run {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  // Three rows of the table "distance between the first i and the first j characters": a swap
  // looks two rows back.
  std::vector<std::size_t> before(to.size() + 1), above(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[to.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    // The beginning of a candidate is near to it, however much is missing.
    const bool shortened = word.size() >= 2 && candidate.starts_with(word);
    const std::size_t distance = shortened ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string_view command_for(std::string_view other_name) {
  constexpr std::string_view both =
      "ooc-run reduce FILE gives its statistics, ooc-run info FILE says what it is";
  constexpr std::array<std::string_view, 7> names{"cat",  "describe", "head",   "show",
                                                  "stat", "stats",    "summary"};
  return std::ranges::find(names, other_name) == names.end() ? std::string_view{} : both;
}

}  // namespace ooc_run
