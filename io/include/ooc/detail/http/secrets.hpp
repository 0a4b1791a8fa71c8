#pragma once

#include <string>
#include <string_view>

namespace ooc::detail {

/// Returns a word without the secrets of an address, also of what is not quite one: without a user
/// and a password, which stand before an `@`, and without what follows `?` or `#`, which may be a
/// signature. A word without slashes is taken for USER:PASSWORD@HOST, and shows `***` as the
/// password. Other words are returned as they are.
std::string shown_address(std::string_view word);

/// The same for a word of a command line: the name of a file that exists is returned as it is.
std::string shown_word(std::string_view word);

/// Returns a text, such as a message, with each word shown so.
std::string without_secrets(std::string_view text);

}  // namespace ooc::detail
