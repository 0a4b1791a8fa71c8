#include "gemm/gemm.hpp"

#include <ooc/detail/base/shared_library.hpp>
#include <ooc/error.hpp>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cassert>
#include <memory>
#include <string>

namespace ooc::detail::gemm {
namespace {

SharedLibrary load_cublas() {
  constexpr const char* names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                                   "/usr/local/cuda/lib64/libcublas.so"};
  return {"cuBLAS", names, ErrorKind::device,
          "it comes with the CUDA toolkit; put its lib64 on LD_LIBRARY_PATH"};
}

/// The functions of cuBLAS that are used, with the types that its header declares.
struct Cublas {
  SharedLibrary library = load_cublas();
  decltype(cublasCreate)* create = function<decltype(cublasCreate)>("cublasCreate_v2");
  decltype(cublasDestroy)* destroy = function<decltype(cublasDestroy)>("cublasDestroy_v2");
  decltype(cublasGetVersion)* get_version =
      function<decltype(cublasGetVersion)>("cublasGetVersion_v2");
  decltype(cublasGetStatusName)* status_name =
      function<decltype(cublasGetStatusName)>("cublasGetStatusName");
  decltype(cublasSetStream)* set_stream = function<decltype(cublasSetStream)>("cublasSetStream_v2");
  decltype(cublasSetWorkspace)* set_workspace =
      function<decltype(cublasSetWorkspace)>("cublasSetWorkspace_v2");
  decltype(cublasGemmEx_64)* gemm = function<decltype(cublasGemmEx_64)>("cublasGemmEx_64");

  void check(cublasStatus_t status, const char* what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::memory : ErrorKind::device,
                std::string("cuBLAS failed in ") + what + ": " + status_name(status));
  }

 private:
  template <class Function>
  Function* function(const char* name) const {
    return library.function<Function>(name);
  }
};

constexpr float zero_f32 = 0, one_f32 = 1;
constexpr double zero_f64 = 0, one_f64 = 1;

/// Skips cublasDestroy() if the GPU has failed: the handle cannot be released then.
struct DestroyHandle {
  using pointer = cublasHandle_t;
  decltype(cublasDestroy)* destroy;
  void operator()(cublasHandle_t handle) const {
    const cudaError_t now = cudaStreamQuery(nullptr);  // does not block
    cudaGetLastError();
    if (now == cudaSuccess || now == cudaErrorNotReady) destroy(handle);
  }
};

cudaDataType_t data_type_of(ElementType element) {
  switch (element) {
    case ElementType::f2: return CUDA_R_16F;
    case ElementType::bf16: return CUDA_R_16BF;
    case ElementType::f8: return CUDA_R_64F;
    default: assert(element == ElementType::f4); return CUDA_R_32F;
  }
}

/// Maps to a compute type of cuBLAS. f2 and bf16 operands use tensor cores, which multiply them
/// exactly. For f4, "pedantic" rules out tensor cores and emulation, even if the environment asks
/// for it (CUBLAS_EMULATE_SINGLE_PRECISION). Nothing is lost, since tensor cores have no IEEE f32.
/// They do have IEEE f64, which "pedantic" would rule out; so for f8 the default mode is used, in
/// which f64 is emulated in fixed point only if CUBLAS_EMULATE_DOUBLE_PRECISION asks for it.
cublasComputeType_t compute_type_of(Precision precision, ElementType operand) {
  if (operand == ElementType::f8) return CUBLAS_COMPUTE_64F;
  if (operand != ElementType::f4) return CUBLAS_COMPUTE_32F;
  return precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC;
}

class CublasGemm final : public Gemm {
 public:
  CublasGemm(Precision precision, ElementType operand, DeviceSpan<std::byte> workspace)
      : workspace_(workspace),
        operand_type_(data_type_of(operand)),
        product_type_(data_type_of(product_type(precision))),
        compute_type_(compute_type_of(precision, operand)) {
    cublasHandle_t handle{};
    cublas_.check(cublas_.create(&handle), "cublasCreate");
    handle_.reset(handle);
  }

  void multiply(Stream& stream, Matrix<const std::byte> a, Matrix<const std::byte> b,
                Matrix<std::byte> c, ProductShape sizes, bool accumulate) override {
    if (sizes.rows == 0 || sizes.columns == 0) return;
    if (sizes.inner == 0) {
      if (!accumulate) fill_zero(stream, c, sizes);
      return;
    }
    // In this order: cublasSetStream() resets the workspace. A workspace for each handle makes
    // results independent of other work on the GPU.
    cublas_.check(cublas_.set_stream(handle_.get(), static_cast<cudaStream_t>(stream.native())),
                  "cublasSetStream");
    cublas_.check(cublas_.set_workspace(handle_.get(), workspace_.data, workspace_.size),
                  "cublasSetWorkspace");

    // cuBLAS is column-major, so it sees all matrices transposed: C^T = B^T A^T.
    const cublasOperation_t of_a = a.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublas_.check(cublas_.gemm(handle_.get(), CUBLAS_OP_N, of_a, signed_of(sizes.columns),
                               signed_of(sizes.rows), signed_of(sizes.inner), factor(true), b.data,
                               operand_type_, signed_of(b.stride), a.data, operand_type_,
                               signed_of(a.stride), factor(accumulate), c.data, product_type_,
                               signed_of(c.stride), compute_type_, CUBLAS_GEMM_DEFAULT),
                  "cublasGemmEx");
  }

  std::string name() const override {
    int version = 0;  // for example 130100 for 13.1.0
    cublas_.check(cublas_.get_version(handle_.get(), &version), "cublasGetVersion");
    return "cuBLAS " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
           "." + std::to_string(version % 100);
  }

 private:
  static std::int64_t signed_of(std::uint64_t size) { return static_cast<std::int64_t>(size); }

  /// 1 or 0 in the type of the sums, as cublasGemmEx() expects it. With beta = 0 cuBLAS does not
  /// read C.
  const void* factor(bool one) const {
    if (product_type_ == CUDA_R_64F) return one ? &one_f64 : &zero_f64;
    return one ? &one_f32 : &zero_f32;
  }

  void fill_zero(Stream& stream, Matrix<std::byte> c, ProductShape sizes) const {
    const std::size_t element = product_type_ == CUDA_R_64F ? sizeof(double) : sizeof(float);
    cudaMemset2DAsync(c.data, c.stride * element, 0, sizes.columns * element, sizes.rows,
                      static_cast<cudaStream_t>(stream.native()));
    stream.check_launch("clearing a matrix");
  }

  Cublas cublas_;
  DeviceSpan<std::byte> workspace_;
  cudaDataType_t operand_type_;
  cudaDataType_t product_type_;
  cublasComputeType_t compute_type_;
  std::unique_ptr<void, DestroyHandle> handle_{nullptr, DestroyHandle{cublas_.destroy}};
};

}  // namespace

std::unique_ptr<Gemm> make_cublas_gemm(Precision precision, ElementType operand,
                                       DeviceSpan<std::byte> workspace) {
  return std::make_unique<CublasGemm>(precision, operand, workspace);
}

void load_cublas_library() {
  load_cublas();
}

}  // namespace ooc::detail::gemm
