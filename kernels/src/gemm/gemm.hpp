#pragma once

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>
#include <ooc/matmul.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace ooc::detail::gemm {

/// A row-major matrix, or a part of one, in device memory. `stride`: elements from row to row.
template <class T>
struct Matrix {
  T* data;
  std::uint64_t stride;
  bool is_transposed = false;  // what is stored is its transpose; only for A
};

struct ProductShape {
  std::uint64_t rows, columns, inner;  // rows and columns of C; columns of A
};

/// Returns the type to which operands are converted on the device before the product, if it differs
/// from the type in the file. It loses no precision beyond what `precision` asks for.
ElementType operand_type(DeviceKind device, Precision precision, ElementType file_type);

/// Returns the type of the product: f8 for f64, else f4.
ElementType product_type(Precision precision);

/// A matrix product by a BLAS library. Used by one thread; on the CPU by several at a time, if each
/// product takes one.
class Gemm {
 public:
  virtual ~Gemm() = default;

  /// Computes C = A B, or C += A B if `accumulate`. Enqueued on the stream; on the CPU complete on
  /// return.
  virtual void multiply(Stream& stream, Matrix<const std::byte> a, Matrix<const std::byte> b,
                        Matrix<std::byte> c, ProductShape sizes, bool accumulate) = 0;

  /// Name and version of the library: "cuBLAS 13.0.2", "OpenBLAS 0.3.21".
  virtual std::string name() const = 0;
};

/// Returns how many bytes of workspace to allocate on the device, out of `device_bytes` in all. 0
/// on a CPU.
std::size_t workspace_bytes(DeviceKind device, std::uint64_t device_bytes);

/// Loads the BLAS library of the device: cuBLAS for a GPU, or OpenBLAS with `threads` threads for
/// the CPU. `workspace` is device memory of workspace_bytes() and must outlive the result. Throws
/// Error: `device` if the library is not installed, with what to install; `usage` for tf32 or bf16
/// on the CPU; `memory`.
std::unique_ptr<Gemm> make_gemm(DeviceKind device, Precision precision, ElementType operand,
                                DeviceSpan<std::byte> workspace, std::size_t threads);

/// Starts a thread that loads cuBLAS, so that make_gemm() finds it loaded: it has half a gigabyte,
/// and loading it takes as long as a GPU takes to start. Returns an empty thread for the CPU, and
/// if no thread can be started. make_gemm() reports any error.
std::jthread load_early(DeviceKind device);

// Implementations of make_gemm(). `operand` is a result of operand_type(); `callers`: the threads
// that use it.
std::unique_ptr<Gemm> make_openblas_gemm(ElementType operand, std::size_t threads,
                                         std::size_t callers = 1);
std::unique_ptr<Gemm> make_cublas_gemm(Precision precision, ElementType operand,
                                       DeviceSpan<std::byte> workspace);
void load_cublas_library();  // throws as make_cublas_gemm() does if cuBLAS is not installed

}  // namespace ooc::detail::gemm
