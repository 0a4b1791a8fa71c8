#include "request/filter.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "request/output_file.hpp"

namespace ooc_run {
namespace {

constexpr const char* filter_example = "ooc-run filter FILE -o OUT --above 0.5";

using Ends = std::pair<std::optional<ooc::RangeEnd>, std::optional<ooc::RangeEnd>>;

Ends parse_ends(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text == ":") {
    refuse_usage("a range has two ends", "--between A:B, or only one of them: --between A:");
  }
  const auto end_of = [](std::string_view word) -> std::optional<ooc::RangeEnd> {
    if (word.empty()) return {};
    return ooc::RangeEnd{parse_scalar(word)};
  };
  return {end_of(text.substr(0, colon)), end_of(text.substr(colon + 1))};
}

std::string parse_column(const std::string& text) {
  if (text.empty()) refuse_usage("names no field or column");
  return text;
}

ooc::FilterByRange read_range(const Arguments& arguments) {
  ooc::FilterByRange range;
  if (const auto ends = arguments.get("between", parse_ends)) {
    std::tie(range.lower, range.upper) = *ends;
  }
  if (const auto value = arguments.get("equal", parse_scalar)) {
    range.lower = range.upper = ooc::RangeEnd{*value};
  }
  if (const auto value = arguments.get("above", parse_scalar)) range.lower = {*value, false};
  if (const auto value = arguments.get("below", parse_scalar)) range.upper = {*value, false};
  if (arguments.has("finite")) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto cut = [](std::optional<ooc::RangeEnd>& end, double beyond) {
      if (!end || end->value.value() == beyond) end = {beyond, false};
    };
    cut(range.lower, -infinity);
    cut(range.upper, infinity);
  }
  if (!range.lower && !range.upper && !arguments.has("not-nan")) {
    refuse_usage("which values? Neither --above nor --below nor any other range nor --mask",
                 filter_example);
  }
  range.column = arguments.get("by", parse_column).value_or("");
  return range;
}

}  // namespace

FilterSettings read_filter_settings(const Arguments& arguments) {
  const bool replace = arguments.has("force");
  FilterSettings settings;
  settings.targets.kept = {.path = read_output_path(arguments, filter_example, 1),
                           .replace = replace};
  if (const auto rest = arguments.get("rest", parse_output)) {
    settings.targets.rest = ooc::Target{.path = *rest, .replace = replace};
  }
  settings.targets.indices = arguments.has("indices");
  const auto as_text = [](const std::string& text) { return text; };
  settings.mask = arguments.get("mask", as_text);
  if (!settings.mask) settings.range = read_range(arguments);
  return settings;
}

}  // namespace ooc_run
