#pragma once

#include <string>
#include <string_view>

namespace ooc::detail {

/// True if a build for these architectures, as CMake names them ("75 90-real"), has code for GPUs
/// of a compute capability. Also true for "native", "all" and "OFF", which name no architecture.
bool has_code_for(std::string_view architectures, int major, int minor);

/// Returns a sentence that says that this code is missing, and which architectures have code. Empty
/// if has_code_for() is true.
std::string why_no_code(std::string_view architectures, int major, int minor);

/// Returns a hint on how to build for a compute capability.
std::string how_to_get_code(int major, int minor);

}  // namespace ooc::detail
