#pragma once

namespace ooc::detail {

/// Throws Error(device): this build has no CUDA kernels. Never called in practice, since such a
/// build makes no CUDA streams.
[[noreturn]] void refuse_cuda();

}  // namespace ooc::detail
