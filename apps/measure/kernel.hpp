#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/detail/kernels/chunk_kernel.hpp>
#include <ooc/device.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace ooc::detail::measure {

/// Measures the rate of a kernel alone, on data in device memory or, on the CPU, in the cache of
/// each core. Kernels of bytes compute on the beginning of a file, kernels of floats on uniform
/// values in [0, 1), the range of their bins.
class KernelAlone {
 public:
  /// The device must outlive this object and be bound to the calling thread. Throws Error(input) if
  /// the file cannot be read.
  KernelAlone(Device& device, KernelKind kind, const File& file);
  ~KernelAlone();
  KernelAlone(const KernelAlone&) = delete;
  KernelAlone& operator=(const KernelAlone&) = delete;

  /// Measures once more: adds a rate to bytes_per_second().
  void round();

  KernelKind kind() const noexcept { return kind_; }
  const std::vector<double>& bytes_per_second() const noexcept { return bytes_per_second_; }

 private:
  struct Worker;

  KernelKind kind_;
  std::vector<std::unique_ptr<Worker>> workers_;  // CUDA: one; CPU: one per core
  std::vector<double> bytes_per_second_;
};

}  // namespace ooc::detail::measure
