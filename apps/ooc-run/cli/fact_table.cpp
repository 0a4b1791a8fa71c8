#include "cli/fact_table.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "cli/terminal.hpp"

namespace ooc_run {

std::string fact_table(std::span<const FactRow> rows, std::size_t columns) {
  constexpr std::size_t label_columns = 10;  // the same in all tables, so that they align
  std::string table;
  for (const FactRow& row : rows) {
    table +=
        wrap(fmt::format("  {:<{}}  ", row.label, label_columns), printable(row.text), columns);
  }
  return table;
}

}  // namespace ooc_run
