#pragma once

#include <string>
#include <string_view>

namespace ooc {

/// Whether a build for these architectures, as CMake names them ("75 90-real"), has code for GPUs
/// of that compute capability. True for "native", "all" and "OFF", which do not say what they mean.
bool has_code_for(std::string_view architectures, int major, int minor);

/// A sentence that says so and names the build's architectures. Empty if has_code_for().
std::string why_no_code(std::string_view architectures, int major, int minor);

/// A hint for that case.
std::string how_to_get_code(int major, int minor);

}  // namespace ooc
