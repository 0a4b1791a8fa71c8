#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ooc_run {

/// A row of a table of facts.
struct FactRow {
  std::string_view label;
  std::string text;
};

/// Returns a table of at most `columns`: labels of at most 10 characters at the left, texts beside
/// them.
std::string fact_table(std::span<const FactRow> rows, std::size_t columns);

}  // namespace ooc_run
