#pragma once

#include <string>
#include <string_view>

#include "report.hpp"

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

/// The tables of an input, or of several by their names.
std::string input_tables(const Json& input);

}  // namespace ooc_run
