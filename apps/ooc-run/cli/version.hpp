#pragma once

#include <string>

namespace ooc_run {

/// Version, compiler, and what was compiled in.
std::string describe_version();

}  // namespace ooc_run
