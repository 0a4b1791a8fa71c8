#pragma once

#include <string_view>

namespace ooc::detail {

/// True if the bytes are the beginning of a stream that DEFLATE (RFC 1951) has made, or all of it
/// and a trailer. Decodes as much as there is. Data of another kind soon contradict the format.
bool begins_like_deflate(std::string_view bytes);

}  // namespace ooc::detail
