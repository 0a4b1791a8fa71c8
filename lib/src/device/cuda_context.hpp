#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace ooc::detail {

/// The context that this program has on a GPU.
///
/// Threads are bound to it by the driver's call, not by cudaSetDevice(), because a thread without a
/// context must have none afterwards either. The runtime reports GPU 0 for such a thread, and
/// cudaSetDevice(0) would create a context there, on a GPU that the program may never use. So would
/// any other call of the runtime, which is why a thread is bound even to free something.
class CudaContext {
 public:
  /// Binds the calling thread during its lifetime, and then restores the context that the thread
  /// had before, or none.
  class Binding {
   public:
    explicit Binding(const CudaContext& context) noexcept
        : context_(context), before_(context.of_thread()) {
      context_.bind();  // if that fails, so do the calls that need it
    }
    ~Binding() { context_.bind_back(before_); }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;

   private:
    const CudaContext& context_;
    CUcontext before_;
  };

  /// Creates the context, and binds the calling thread by cudaSetDevice(). All other calls come
  /// after this one; before, or if it has failed, they leave the thread as it is.
  cudaError_t create(int ordinal);

  /// Returns the context of the calling thread, which may be another one; null if it has none.
  CUcontext of_thread() const noexcept;

  cudaError_t bind() const noexcept { return bind(own_); }
  void bind_back(CUcontext before) const noexcept { bind(before); }

 private:
  cudaError_t bind(CUcontext context) const noexcept;

  CUresult (*get_current_)(CUcontext*) = nullptr;  // the driver's, which may be missing
  CUresult (*set_current_)(CUcontext) = nullptr;
  CUcontext own_ = nullptr;
};

}  // namespace ooc::detail
