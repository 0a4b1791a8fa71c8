#include "convert_values.hpp"
#include "exact_sum.hpp"
#include "gemm.hpp"
#include "histogram_count.hpp"
#include "reduce_tiles.hpp"

#include <ooc/io/error.hpp>

// The kernels of a build without CUDA, which no stream can ask for.

namespace ooc {
namespace {

[[noreturn]] void refuse() {
  throw Error(Cause::device, "this build of libooc has no CUDA kernels",
              {.hint = "build it with -DOOC_CUDA=ON"});
}

}  // namespace

namespace reduction {

void reduce_tiles_cuda(Stream&, ElementType, const std::byte*, std::size_t, std::span<TileResult>) {
  refuse();
}

void add_exactly_cuda(Stream&, ElementType, const std::byte*, std::size_t, ExactSum&) {
  refuse();
}

}  // namespace reduction

namespace binning {

std::unique_ptr<BinCounter> make_cuda_counter(ElementType, const Bins&, Stream&) {
  refuse();
}

std::unique_ptr<ExtremesFinder> make_cuda_finder(ElementType, Stream&) {
  refuse();
}

}  // namespace binning

namespace conversion {

void convert_values_cuda(Stream&, ElementType, ElementType, const std::byte*, std::byte*,
                         std::size_t, std::uint64_t*) {
  refuse();
}

}  // namespace conversion

namespace gemm {

std::unique_ptr<Gemm> make_cublas_gemm(Compute, ElementType, DeviceSpan<std::byte>) {
  refuse();
}

void load_cublas_library() {
  refuse();
}

}  // namespace gemm

}  // namespace ooc
