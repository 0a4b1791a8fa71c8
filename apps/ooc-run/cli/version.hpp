#pragma once

#include <string>

namespace ooc_run {

/// Returns the text of --version: version, compiler, devices, engines and libraries.
std::string describe_version();

}  // namespace ooc_run
