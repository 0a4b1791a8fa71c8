#pragma once

#include <string>
#include <string_view>

namespace ooc {

/// Whether a build for these architectures, as CMake names them ("75 90-real"), has code for GPUs
/// of that compute capability. True for "native" and "all", which do not say what they stood for.
bool has_code_for(std::string_view architectures, int major, int minor);

/// Says that it has none, and for which GPUs it has. Empty if it has.
std::string why_no_code(std::string_view architectures, int major, int minor);

/// A hint for that case.
std::string how_to_get_code(int major, int minor);

}  // namespace ooc
