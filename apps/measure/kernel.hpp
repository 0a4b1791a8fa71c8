#pragma once

#include <ooc/device.hpp>
#include <ooc/io/file.hpp>
#include <ooc/kernels/chunk_kernel.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace ooc::measure {

/// Measures the rate of a kernel alone, on data in device memory or, on the CPU, in the cache of
/// each core. Bytes are the beginning of a file; floats are uniform in [0, 1), the range of the
/// bins.
class KernelAlone {
 public:
  /// The device must outlive this and be bound to the calling thread. Throws Error(input).
  KernelAlone(Device& device, KernelKind kind, const File& file);
  ~KernelAlone();
  KernelAlone(const KernelAlone&) = delete;
  KernelAlone& operator=(const KernelAlone&) = delete;

  void round();

  KernelKind kind() const noexcept { return kind_; }
  const std::vector<double>& bytes_per_second() const noexcept { return bytes_per_second_; }

 private:
  struct Worker;

  KernelKind kind_;
  std::vector<std::unique_ptr<Worker>> workers_;  // CUDA: one; CPU: one per core
  std::vector<double> bytes_per_second_;
};

}  // namespace ooc::measure
