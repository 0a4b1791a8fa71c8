#pragma once

#include <string_view>

namespace ooc::detail {

/// True if the bytes are the beginning of a DEFLATE stream (RFC 1951), or a complete stream and a
/// trailer. Decodes all bytes; data of other kinds soon contradict the format.
bool begins_like_deflate(std::string_view bytes);

}  // namespace ooc::detail
