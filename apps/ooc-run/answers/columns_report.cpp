#include "answers/columns_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "answers/reduce_report.hpp"
#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

using Cells = std::array<std::string, 7>;

std::string real_text(const std::optional<double>& value) {
  return value ? format_real(*value) : "-";
}

Cells cells_of(std::size_t column, const ooc::Statistics& found, ooc::ElementType type) {
  return {group_digits(std::to_string(column)),
          real_text(found.mean),
          real_text(found.stddev),
          format_element(found.min, type),
          format_element(found.max, type),
          format_number(found.sum),
          group_digits(std::to_string(found.nan))};
}

std::string index_text(const std::optional<std::uint64_t>& index) {
  return index ? std::to_string(*index) : "nothing";
}

}  // namespace

Json describe_columns(std::span<const ooc::Statistics> columns, const ooc::ReduceOptions& options) {
  Json list = Json::array();
  for (const ooc::Statistics& column : columns) {
    list.push_back(describe_statistics(column, options));
  }
  return {{"columns", std::move(list)}};
}

std::string table(std::span<const ooc::Statistics> columns, ooc::ElementType type) {
  constexpr std::size_t most_lines = 100;
  const std::size_t shown = std::min(columns.size(), most_lines);
  const std::uint64_t rows = columns.empty() ? 0 : columns.front().count;
  std::string text = fmt::format("\n  {} of {}\n\n", format_count(rows, "row"),
                                 format_count(columns.size(), "column"));
  std::vector<Cells> lines{{"column", "mean", "stddev", "min", "max", "sum", "nan"}};
  for (std::size_t c = 0; c < shown; ++c) lines.push_back(cells_of(c, columns[c], type));
  std::array<std::size_t, std::tuple_size_v<Cells>> widths{};
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += fmt::format("  {:>{}}", line[i], widths[i]);
    }
    text += "\n";
  }
  if (shown < columns.size()) {
    text += fmt::format("  and {}, which --tsv and --json print\n",
                        format_count(columns.size() - shown, "more column"));
  }
  return text;
}

Document tsv(std::span<const ooc::Statistics> columns) {
  Document document("column\tcount\tnan\tinf\tsum\tmin\targmin\tmax\targmax\tmean\tstddev\n");
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ooc::Statistics& found = columns[c];
    const auto real = [](const std::optional<double>& value) {
      return to_string(value ? ooc::Scalar{*value} : ooc::Scalar{});
    };
    document.add(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", c, found.count,
                             found.nan, found.inf, to_string(found.sum), to_string(found.min),
                             index_text(found.argmin), to_string(found.max),
                             index_text(found.argmax), real(found.mean), real(found.stddev)));
  }
  return document;
}

std::string why_nan(std::span<const ooc::Statistics> columns, const ooc::ReduceOptions& options) {
  const auto has_nan = [](const ooc::Statistics& column) { return column.nan != 0; };
  const auto with_nan = static_cast<std::uint64_t>(std::ranges::count_if(columns, has_nan));
  if (with_nan != 0 && options.nan == ooc::NanPolicy::propagate) {
    return fmt::format("{} {} NaN, so that {} statistics are; --nan omit leaves NaN out",
                       format_count(with_nan, "column"), with_nan == 1 ? "has" : "have",
                       with_nan == 1 ? "its" : "their");
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string why = why_nan(columns[c], options);
    if (!why.empty()) return fmt::format("column {}: {}", c, why);
  }
  return {};
}

}  // namespace ooc_run
