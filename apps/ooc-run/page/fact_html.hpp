#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result/report.hpp"

namespace ooc_run {

// What JSON documents hold, for people, as HTML.

/// A value by its name, which tells its unit: "8.59 GB (8.00 GiB)" of "bytes". In a <data> element
/// with the value as it is in the document. A dash for null.
std::string html_value(std::string_view key, const Json& value);

/// A row of a table of facts. `html` is HTML.
std::string fact_row(std::string_view name, std::string_view html);

/// A table of facts, of its rows.
std::string fact_table(std::string_view rows);

/// The rows for what an object has of values that fit a cell and are not null: of lists only a
/// shape. What an object within has follows, behind its name.
std::string fact_rows(const Json& object);

/// Facts that belong together, by their names in JSON.
struct FactGroup {
  std::string_view title;
  std::vector<std::string_view> keys;
};

/// A table for each group of an object's facts that is not empty, one for the facts that belong to
/// no group, and one for each nested object.
std::string fact_groups(const Json& object, std::span<const FactGroup> groups);

/// The tables of an input, or of several by their names.
std::string input_tables(const Json& input);

}  // namespace ooc_run
