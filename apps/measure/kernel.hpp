#pragma once

#include <ooc/device.hpp>
#include <ooc/io/file.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace ooc::measure {

/// The built-in operators that are measured by themselves, on the types that files have most.
enum class KernelKind { histogram_u1, histogram_f4, histogram_f8, reduce_f4, reduce_f8 };

inline constexpr std::array all_kernels{KernelKind::histogram_u1, KernelKind::histogram_f4,
                                        KernelKind::histogram_f8, KernelKind::reduce_f4,
                                        KernelKind::reduce_f8};

/// "histogram u1".
std::string_view name_of(KernelKind kind);

/// One of them, without the pipeline around it. Used by one thread.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Enqueues the work on data where the device can read them: fewer than 2^31 elements.
  virtual void run(Stream& stream, DeviceSpan<const std::byte> data) = 0;
};

std::unique_ptr<Kernel> make_kernel(KernelKind kind, Stream& stream);

/// The rate of a kernel on data that lie on the device or, on the CPU, in each core's own cache:
/// bytes are the beginning of a file, floats are spread over [0, 1), and so are their bins.
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
  std::vector<std::unique_ptr<Worker>> workers_;  // one, or one a core
  std::vector<double> bytes_per_second_;
};

}  // namespace ooc::measure
