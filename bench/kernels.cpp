// The operators behind histogram() and reduce(). Only here, and not among the other measuring
// functions, since it looks behind the public headers of kernels, which apps must not.

#include <ooc/coordinator.hpp>
#include <ooc/io/units.hpp>
#include <ooc/kernels/simd.hpp>

#include <utility>
#include <vector>

#include "bins.hpp"
#include "histogram_count.hpp"
#include "kernel.hpp"
#include "reduce_tiles.hpp"

namespace ooc::measure {

namespace {

class HistogramKernel final : public Kernel {
 public:
  explicit HistogramKernel(Stream& stream)
      : counter_(stream.kind() == DeviceKind::cpu
                     ? binning::make_cpu_counter(ElementType::u1, bins_, best_simd())
                     : binning::make_cuda_counter(ElementType::u1, bins_, stream)) {}

  void run(Stream& stream, DeviceSpan<const std::byte> data) override {
    counter_->count(stream, data);
  }

 private:
  binning::Bins bins_ = binning::make_bins({}, {0, 256}, Cause::internal);
  std::unique_ptr<binning::BinCounter> counter_;
};

class ReduceKernel final : public Kernel {
 public:
  void run(Stream& stream, DeviceSpan<const std::byte> data) override {
    const std::size_t elements = data.size / sizeof(float);
    tiles_.resize(divide_up(elements, tile_elements));
    if (stream.kind() == DeviceKind::cpu) {
      reduction::reduce_tiles_cpu(ElementType::f4, data.data, elements, simd_, lane_, tiles_);
    } else {
      reduction::reduce_tiles_cuda(stream, ElementType::f4, data.data, elements, tiles_);
    }
  }

 private:
  Simd simd_ = best_simd();
  reduction::CpuLane lane_;
  std::vector<reduction::TileResult> tiles_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(KernelKind kind, Stream& stream) {
  switch (kind) {
    case KernelKind::histogram_u1: return std::make_unique<HistogramKernel>(stream);
    case KernelKind::reduce_f4: return std::make_unique<ReduceKernel>();
  }
  __builtin_unreachable();
}

}  // namespace ooc::measure
