#include "commands/reduce_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

Json json_index(const std::optional<std::uint64_t>& index) {
  return index ? Json(*index) : Json(nullptr);
}

}  // namespace

Json describe_statistics(const ooc::Statistics& statistics, bool exact) {
  Json result{{"count", statistics.count},
              {"nan", statistics.nan},
              {"sum", json_number(statistics.sum)},
              {"min", json_number(statistics.min)},
              {"argmin", json_index(statistics.argmin)},
              {"max", json_number(statistics.max)},
              {"argmax", json_index(statistics.argmax)},
              {"mean", json_number(statistics.mean)},
              {"variance", json_number(statistics.variance)},
              {"stddev", json_number(statistics.stddev)}};
  if (exact) result["exact"] = true;
  return result;
}

std::string table(const ooc::Statistics& statistics, ooc::ElementType type, bool exact) {
  const auto index_note = [](const std::optional<std::uint64_t>& index) {
    return index ? "  at " + group_digits(std::to_string(*index)) : "";
  };
  const auto real = [](const std::optional<double>& value) {
    return value ? format_real(*value) : "-";
  };
  const std::string_view rounded = exact ? "  correctly rounded" : "";
  struct Row {
    std::string_view name;
    std::string value, note;
  };
  const std::array rows{
      Row{"count", group_digits(std::to_string(statistics.count)), ""},
      Row{"nan", group_digits(std::to_string(statistics.nan)), ""},
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

void note_nan(const ooc::Statistics& statistics, const ooc::ReduceOptions& options,
              Outcome& outcome) {
  if (statistics.nan == 0 || options.nan == ooc::NanPolicy::omit) return;
  outcome.notes.push_back(fmt::format(
      "{} NaN, and so are the statistics; --nan omit leaves NaN out",
      statistics.nan == 1 ? "1 value is" : format_count(statistics.nan, "value") + " are"));
}

}  // namespace ooc_run
