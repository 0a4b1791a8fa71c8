#include "cli/suggest.hpp"

#include <algorithm>
#include <array>
#include <ooc/detail/base/edit_distance.hpp>

namespace ooc_run {

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    // A shortened word is near to a candidate however much of it is missing.
    const bool shortened = word.size() >= 2 && candidate.starts_with(word);
    const std::size_t distance = shortened ? 1 : ooc::detail::edit_distance(word, candidate);
    // A candidate without a letter of the word is not near, as one of a single letter might be.
    if (distance < best_distance && distance < candidate.size()) {
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

std::string_view options_for(std::string_view other_name) {
  struct Other {
    std::string_view name, options;
  };
  constexpr std::array<Other, 11> others{{{"rows", "count shape shape-a shape-b"},
                                          {"columns", "shape shape-a shape-b"},
                                          {"nrows", "count shape shape-a shape-b"},
                                          {"head", "count"},
                                          {"limit", "count"},
                                          {"length", "count"},
                                          {"gpu", "device"},
                                          {"cpu", "device"},
                                          {"type", "dtype to"},
                                          {"jobs", "threads"},
                                          {"workers", "threads"}}};
  const auto found = std::ranges::find(others, other_name, &Other::name);
  return found == others.end() ? std::string_view{} : found->options;
}

}  // namespace ooc_run
