#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result/report.hpp"

namespace ooc_run {

// Converts the facts of JSON documents to readable HTML.

/// Formats a value. The key gives the unit: "8.59 GB (8.00 GiB)" for "bytes". The text is in a
/// <data> element, whose `value` is the original value. Returns a dash for null.
std::string html_value(std::string_view key, const Json& value);

/// Returns a row of a table of facts. `name` is plain text, `html` is HTML.
std::string fact_row(std::string_view name, std::string_view html);

/// Returns a table of facts with the given rows.
std::string fact_table(std::string_view rows);

/// Returns a row for each value of an object. Leaves out null, and lists other than "shape". The
/// names of values in nested objects begin with the name of the nested object.
std::string fact_rows(const Json& object);

/// Facts that are shown together, by their keys in JSON.
struct FactGroup {
  std::string_view title;
  std::vector<std::string_view> keys;
};

/// Returns tables of an object's facts: one for each group that is not empty, one for facts without
/// a group, and one for each nested object.
std::string fact_groups(const Json& object, std::span<const FactGroup> groups);

/// Returns the table of an input, or a table with a heading for each of several named inputs.
std::string input_tables(const Json& input);

}  // namespace ooc_run
