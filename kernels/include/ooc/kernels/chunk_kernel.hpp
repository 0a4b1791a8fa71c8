#pragma once

#include <ooc/device.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace ooc {

/// The built-in operators, on the element types that are most common in files.
enum class KernelKind { histogram_u1, histogram_f4, histogram_f8, reduce_f4, reduce_f8 };

inline constexpr std::array all_kernels{KernelKind::histogram_u1, KernelKind::histogram_f4,
                                        KernelKind::histogram_f8, KernelKind::reduce_f4,
                                        KernelKind::reduce_f8};

/// "histogram u1".
std::string_view name_of(KernelKind kind);

/// The computation that a built-in operator does on one chunk, without the pipeline: for measuring
/// its rate. Results are discarded. Used by one thread.
class ChunkKernel {
 public:
  virtual ~ChunkKernel() = default;

  /// Enqueues the computation on `data`, memory of the stream's device: fewer than 2^31 elements.
  virtual void run(Stream& stream, DeviceSpan<const std::byte> data) = 0;
};

/// A kernel for streams of the same device. Histograms have 256 bins of bytes, or 256 bins over
/// [0, 1]. Throws Error(memory) or Error(device).
std::unique_ptr<ChunkKernel> make_chunk_kernel(KernelKind kind, Stream& stream);

}  // namespace ooc
