#include <ooc/io/error.hpp>

#include "devices.hpp"

namespace ooc {

std::string why_no_cuda_device() {
  return "this libooc was built without CUDA";
}

std::unique_ptr<Device> make_cuda_device(int /*ordinal*/) {
  throw Error(Cause::device, why_no_cuda_device(),
              {.hint = "build with the CUDA toolkit installed (preset cuda), or use the CPU"});
}

}  // namespace ooc
