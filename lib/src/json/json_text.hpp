#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

// Reads JSON of a file that is not trusted, a few values at a time: a parsed value takes 16 bytes,
// and its text may take only 2.

namespace ooc::detail {

/// Throws Error(bad_input) unless a text is JSON that can be parsed in linear time, and without
/// much more memory than it takes itself: it is not nested deeply, an object has few members, and
/// there are not many more values than a histogram has edges.
void require_plain_json(std::string_view text);

/// Returns the text of a member of an object. Throws Error(bad_input) if there is none. The text
/// must be JSON.
std::string_view member_of(std::string_view object, std::string_view name);

/// Calls `take` with each element of an array. Throws Error(bad_input) if it is none, or if an
/// element is long. The text must be JSON.
void for_each_element(std::string_view array,
                      const std::function<void(const nlohmann::ordered_json&)>& take);

}  // namespace ooc::detail
