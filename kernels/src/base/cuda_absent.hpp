#pragma once

namespace ooc {

/// Throws Error(device): this build has no CUDA kernels. No stream of such a build asks for them.
[[noreturn]] void refuse_cuda();

}  // namespace ooc
