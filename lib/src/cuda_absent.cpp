#include <ooc/cuda_facts.hpp>
#include <ooc/io/error.hpp>

#include "devices.hpp"
#include "ranges.hpp"

namespace ooc {

std::string why_no_cuda_device() {
  return "this libooc was built without CUDA";
}

std::unique_ptr<Device> make_cuda_device(int /*ordinal*/) {
  throw Error(Cause::device, why_no_cuda_device(),
              {.hint = "leave out --device cuda, or build with the CUDA toolkit (preset release)"});
}

CudaFacts cuda_facts() {
  CudaFacts facts;
  facts.why_no_gpu = why_no_cuda_device();
  return facts;
}

Range::Range(const char* /*name*/, std::size_t /*chunk*/) noexcept {}
Range::~Range() = default;

std::uint64_t begin_range(const char* /*name*/, std::size_t /*chunk*/) noexcept {
  return 0;
}

void end_range(std::uint64_t /*range*/) noexcept {}

}  // namespace ooc
