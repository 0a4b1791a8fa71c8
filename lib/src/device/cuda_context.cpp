#include "device/cuda_context.hpp"

namespace ooc::detail {

namespace {

/// Finds a function of the driver, to which the library is not linked: there may be none.
template <class Function>
cudaError_t find(const char* name, Function*& function) {
  constexpr unsigned version = 12000;  // of the function, not of the driver
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
  if (status != cudaSuccess) return status;
  if (result != cudaDriverEntryPointSuccess) return cudaErrorInsufficientDriver;
  function = reinterpret_cast<Function*>(found);
  return cudaSuccess;
}

/// Errors of the driver and of the runtime have the same numbers.
cudaError_t error_of(CUresult result) {
  return static_cast<cudaError_t>(result);
}

}  // namespace

cudaError_t CudaContext::create(int ordinal) {
  cudaError_t status = cudaSetDevice(ordinal);
  if (status == cudaSuccess) status = cudaFree(nullptr);  // fails here, or not before any work
  if (status == cudaSuccess) status = find("cuCtxGetCurrent", get_current_);
  if (status == cudaSuccess) status = find("cuCtxSetCurrent", set_current_);
  if (status == cudaSuccess) status = error_of(get_current_(&own_));
  return status;
}

CUcontext CudaContext::of_thread() const noexcept {
  CUcontext context = nullptr;
  if (get_current_ == nullptr) return nullptr;
  return get_current_(&context) == CUDA_SUCCESS ? context : nullptr;
}

cudaError_t CudaContext::bind(CUcontext context) const noexcept {
  if (set_current_ == nullptr) return cudaErrorDeviceUninitialized;
  return error_of(set_current_(context));
}

}  // namespace ooc::detail
