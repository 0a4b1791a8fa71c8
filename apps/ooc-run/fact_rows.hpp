#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ooc_run {

/// A line of a table of facts.
struct FactRow {
  std::string_view label;
  std::string text;
};

/// `text` broken between words, so that no line has more than `columns`. `first` precedes it; other
/// lines are indented as far.
std::string wrap(std::string_view first, std::string_view text, std::size_t columns);

/// Labels at the left, of at most 10 characters, texts beside them.
std::string fact_table(std::span<const FactRow> rows, std::size_t columns);

}  // namespace ooc_run
