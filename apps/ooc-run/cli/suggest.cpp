#include "cli/suggest.hpp"

#include <algorithm>
#include <array>
#include <ooc/detail/base/edit_distance.hpp>

namespace ooc_run {

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    // The beginning of a candidate is near to it, however much is missing.
    const bool shortened = word.size() >= 2 && candidate.starts_with(word);
    const std::size_t distance = shortened ? 1 : ooc::detail::edit_distance(word, candidate);
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
  constexpr std::array<std::string_view, 6> names{"cat",  "describe", "head",
                                                  "show", "stat",     "summary"};
  return std::ranges::find(names, other_name) == names.end() ? std::string_view{} : both;
}

}  // namespace ooc_run
