#include <ooc/detail/kernels/chunk_kernel.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/kernels/simd.hpp>
#include <ooc/reduce.hpp>

#include <utility>
#include <vector>

#include "histogram/bins.hpp"
#include "histogram/count.hpp"
#include "reduce/tiles.hpp"

namespace ooc::detail {

namespace {

class HistogramKernel final : public ChunkKernel {
 public:
  /// The bins cover all byte values, or [0, 1] for floats.
  HistogramKernel(Stream& stream, ElementType type)
      : bins_(binning::make_bins({}, {0, type == ElementType::u1 ? 256.0 : 1.0},
                                 ErrorKind::internal)),
        counter_(stream.kind() == DeviceKind::cpu
                     ? binning::make_cpu_counter(type, bins_, best_simd())
                     : binning::make_cuda_counter(type, bins_, stream)) {}

  void run(Stream& stream, DeviceSpan<const std::byte> data) override {
    counter_->count(stream, data);
  }

 private:
  binning::Bins bins_;
  std::unique_ptr<binning::BinCounter> counter_;
};

class ReduceKernel final : public ChunkKernel {
 public:
  explicit ReduceKernel(ElementType type) : type_(type) {}

  void run(Stream& stream, DeviceSpan<const std::byte> data) override {
    const std::size_t elements = data.size / size_of(type_);
    tiles_.resize(divide_up(elements, tile_elements));
    if (stream.kind() == DeviceKind::cpu) {
      reduction::reduce_tiles_cpu(type_, data.data, elements, simd_, lane_, tiles_);
    } else {
      reduction::reduce_tiles_cuda(stream, type_, data.data, elements, tiles_);
    }
  }

 private:
  ElementType type_;
  Simd simd_ = best_simd();
  reduction::CpuLane lane_;
  std::vector<reduction::TileResult> tiles_;
};

}  // namespace

std::string_view name_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::histogram_u1: return "histogram u1";
    case KernelKind::histogram_f4: return "histogram f4";
    case KernelKind::histogram_f8: return "histogram f8";
    case KernelKind::reduce_f4: return "reduce f4";
    case KernelKind::reduce_f8: return "reduce f8";
  }
  __builtin_unreachable();
}

std::unique_ptr<ChunkKernel> make_chunk_kernel(KernelKind kind, Stream& stream) {
  using enum ElementType;
  switch (kind) {
    case KernelKind::histogram_u1: return std::make_unique<HistogramKernel>(stream, u1);
    case KernelKind::histogram_f4: return std::make_unique<HistogramKernel>(stream, f4);
    case KernelKind::histogram_f8: return std::make_unique<HistogramKernel>(stream, f8);
    case KernelKind::reduce_f4: return std::make_unique<ReduceKernel>(f4);
    case KernelKind::reduce_f8: return std::make_unique<ReduceKernel>(f8);
  }
  __builtin_unreachable();
}

}  // namespace ooc::detail
