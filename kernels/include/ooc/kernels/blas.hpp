#pragma once

#include <string>

namespace ooc {

/// "OpenBLAS 0.3.21": the library by which the CPU multiplies matrices, which is loaded to know.
/// Throws Error(device) with what to install if it is not there, Error(memory) if there is no room
/// for it.
std::string cpu_blas();

}  // namespace ooc
