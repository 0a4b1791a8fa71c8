#include "answers/reduce_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <variant>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

Json json_index(const std::optional<std::uint64_t>& index) {
  return index ? Json(*index) : Json(nullptr);
}

}  // namespace

Json describe_statistics(const ooc::Statistics& statistics, const ooc::ReduceOptions& options) {
  Json result{{"count", statistics.count},
              {"nan", statistics.nan},
              {"inf", statistics.inf},
              {"sum", json_number(statistics.sum)},
              {"min", json_number(statistics.min)},
              {"argmin", json_index(statistics.argmin)},
              {"max", json_number(statistics.max)},
              {"argmax", json_index(statistics.argmax)},
              {"mean", json_number(statistics.mean)},
              {"variance", json_number(statistics.variance)},
              {"stddev", json_number(statistics.stddev)}};
  if (options.nan == ooc::NanPolicy::omit) result["omitted"] = statistics.nan;
  if (options.exact) result["exact"] = true;
  return result;
}

std::string table(const ooc::Statistics& statistics, ooc::ElementType type,
                  const ooc::ReduceOptions& options) {
  const auto index_note = [](const std::optional<std::uint64_t>& index) {
    return index ? "  at " + group_digits(std::to_string(*index)) : "";
  };
  const auto real = [](const std::optional<double>& value) {
    return value ? format_real(*value) : "-";
  };
  const std::string_view rounded = options.exact ? "  correctly rounded" : "";
  struct Row {
    std::string_view name;
    std::string value, note;
  };
  const std::array rows{
      Row{"count", group_digits(std::to_string(statistics.count)), ""},
      Row{"nan", group_digits(std::to_string(statistics.nan)),
          options.nan == ooc::NanPolicy::omit ? "  omitted" : ""},
      Row{"inf", group_digits(std::to_string(statistics.inf)), ""},
      Row{"sum", format_number(statistics.sum), std::string(rounded)},
      Row{"min", format_element(statistics.min, type), index_note(statistics.argmin)},
      Row{"max", format_element(statistics.max, type), index_note(statistics.argmax)},
      Row{"mean", real(statistics.mean), std::string(rounded)},
      Row{"variance", real(statistics.variance), ""},
      Row{"stddev", real(statistics.stddev), ""},
  };
  std::size_t columns = 0;
  for (const Row& row : rows) columns = std::max(columns, row.value.size());
  std::string text = "\n";
  for (const Row& row : rows) {
    text += fmt::format("  {:<8}  {:>{}}{}\n", row.name, row.value, columns, row.note);
  }
  return text;
}

std::string why_nan(const ooc::Statistics& statistics, const ooc::ReduceOptions& options) {
  const auto are = [](std::uint64_t count, std::string_view what) {
    return fmt::format("{} {} {}", format_count(count, "value"), count == 1 ? "is" : "are", what);
  };
  if (statistics.nan != 0 && options.nan == ooc::NanPolicy::propagate) {
    return are(statistics.nan, "NaN, and so are the statistics; --nan omit leaves NaN out");
  }
  if (statistics.nan != 0 && statistics.nan == statistics.count) {
    return "all values are NaN and left out, so that only the sum is a number";
  }
  const auto is_nan = [](const std::optional<double>& value) {
    return value && std::isnan(*value);
  };
  const double* const sum = std::get_if<double>(&statistics.sum);
  std::string names;
  if (sum != nullptr && std::isnan(*sum)) names = "sum and mean";
  if (is_nan(statistics.variance)) {
    names = names.empty() ? "variance and stddev" : "sum, mean, variance and stddev";
  }
  if (names.empty()) return {};
  const auto* const min = std::get_if<double>(&statistics.min);
  const auto* const max = std::get_if<double>(&statistics.max);
  const bool both_signs = min != nullptr && std::isinf(*min) && std::isinf(*max) && *min != *max;
  const std::string why =
      statistics.inf == 0
          ? "sums of such large values are infinite"
          : are(statistics.inf, both_signs ? "infinite, of both signs" : "infinite");
  return fmt::format("{}, so {} are nan", why, names);
}

void require_places_in_data(const ooc::Statistics& statistics) {
  const auto is_behind = [&](const std::optional<std::uint64_t>& place) {
    return place && *place >= statistics.count;
  };
  if (!is_behind(statistics.argmin) && !is_behind(statistics.argmax)) return;
  throw ooc::Error(ooc::ErrorKind::bad_input,
                   "a saved partial result has its extremes behind the data");
}

}  // namespace ooc_run
