#include "fact_rows.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "terminal.hpp"

namespace ooc_run {
std::string wrap(std::string_view first, std::string_view text, std::size_t columns) {
  const std::size_t indent = columns_of(first);
  std::string lines(first);
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    const bool begins = column == indent;
    if (!begins && column + 1 + columns_of(word) > columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!begins) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += columns_of(word);
  }
  return lines + "\n";
}

std::string fact_table(std::span<const FactRow> rows, std::size_t columns) {
  constexpr std::size_t label_columns =
      10;  // the same in all tables, which stand beneath each other
  std::string table;
  for (const FactRow& row : rows) {
    table += wrap(fmt::format("  {:<{}}  ", row.label, label_columns), row.text, columns);
  }
  return table;
}

}  // namespace ooc_run
