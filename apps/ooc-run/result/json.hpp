#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <ooc/reduce.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "result/document.hpp"

namespace ooc_run {

using Json = nlohmann::ordered_json;

// Numbers as JSON. NaN and the infinities become strings, because JSON has no such numbers; a
// missing value becomes null. Integers of any length are exact in the text of append_json() and
// text_of().
Json json_number(double value);
Json json_number(const std::optional<double>& value);
Json json_number(const ooc::Scalar& value);
Json json_integer(ooc::int128 value);

/// Returns a list: an array whose numbers are stored compactly instead of as a JSON node each.
/// Results may contain lists, since append_json() prints them.
Json json_list(std::span<const double> values);
Json json_list(std::span<const std::uint64_t> values);
Json json_list(std::span<const ooc::int128> values);

/// Returns the numbers of a list.
template <class T>
std::vector<T> numbers_in(const Json& list);

/// Returns JSON as text. Strings are not quoted.
std::string text_of(const Json& value);

/// Adds JSON to a document, in ASCII so that neither a terminal nor a parser can misinterpret it.
/// The lists of `json` move to the document.
void append_json(Document& document, Json json);

}  // namespace ooc_run
