#pragma once

#include <string>
#include <string_view>

namespace ooc::detail {

/// Returns a word with the secrets of an address removed, even if the address is malformed: the
/// user and password before an `@`, and the text after `?` or `#`, which may contain a signature. A
/// word without slashes is taken for USER:PASSWORD@HOST, and shows `***` as the password. Other
/// words are returned unchanged.
std::string shown_address(std::string_view word);

/// Like shown_address(), for a word of a command line: the name of an existing file is unchanged.
std::string shown_word(std::string_view word);

/// Returns a text, such as a message, with shown_word() applied to each of its words.
std::string without_secrets(std::string_view text);

}  // namespace ooc::detail
