#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/error.hpp>

#include "device/devices.hpp"
#include "device/nvtx_range.hpp"

namespace ooc {

using namespace detail;

std::string detail::why_no_cuda_device() {
  return "this libooc was built without CUDA";
}

std::unique_ptr<Device> make_cuda_device(const CudaDeviceOptions& /*options*/) {
  throw Error(ErrorKind::device, why_no_cuda_device(),
              {.hint = "build with the CUDA toolkit (preset release)",
               .remedies = {{RemedyAction::set, "Device::kind", "cpu"}}});
}

CudaFacts detail::cuda_facts() {
  CudaFacts facts;
  facts.why_no_gpu = why_no_cuda_device();
  return facts;
}

int detail::visible_gpus(const std::string& /*dev*/) {
  return 0;
}

NvtxRange::NvtxRange(const char* /*name*/, std::size_t /*chunk*/) noexcept {}
NvtxRange::~NvtxRange() = default;

std::uint64_t detail::begin_nvtx_range(const char* /*name*/, std::size_t /*chunk*/) noexcept {
  return 0;
}

void detail::end_nvtx_range(std::uint64_t /*range*/) noexcept {}

}  // namespace ooc
