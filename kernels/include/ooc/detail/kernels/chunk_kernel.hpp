#pragma once

#include <ooc/device.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace ooc::detail {

/// A built-in operator on one of the element types that are most common in files.
enum class KernelKind { histogram_u1, histogram_f4, histogram_f8, reduce_f4, reduce_f8 };

inline constexpr std::array all_kernels{KernelKind::histogram_u1, KernelKind::histogram_f4,
                                        KernelKind::histogram_f8, KernelKind::reduce_f4,
                                        KernelKind::reduce_f8};

/// Returns, for example, "histogram u1".
std::string_view name_of(KernelKind kind);

/// The work of a built-in operator on one chunk, without the pipeline, for measuring its rate.
/// Results are discarded. Used by one thread.
class ChunkKernel {
 public:
  virtual ~ChunkKernel() = default;

  /// Enqueues the work on `data`, which is in the memory of the stream's device and has fewer than
  /// 2^31 elements.
  virtual void run(Stream& stream, DeviceSpan<const std::byte> data) = 0;
};

/// Makes a kernel that may be used with any stream of the same device as `stream`. A histogram has
/// 256 bins: one for each byte value, or of equal width over [0, 1] for floats. Throws Error:
/// `memory`, `device`.
std::unique_ptr<ChunkKernel> make_chunk_kernel(KernelKind kind, Stream& stream);

}  // namespace ooc::detail
