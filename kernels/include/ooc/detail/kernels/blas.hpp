#pragma once

#include <string>

namespace ooc::detail {

/// Returns name and version of the BLAS library that multiplies matrices on the CPU, for example
/// "OpenBLAS 0.3.21". Loads the library. Throws Error: `device`, with what to install, if it is not
/// installed; `memory` if there is not enough memory, address space or threads for it.
std::string cpu_blas();

}  // namespace ooc::detail
