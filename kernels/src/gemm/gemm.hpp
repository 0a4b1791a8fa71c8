#pragma once

#include <ooc/device.hpp>
#include <ooc/io/element_type.hpp>
#include <ooc/kernels/matmul.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace ooc::gemm {

/// A row-major matrix, or a part of one, in device memory; `stride`: elements from row to row.
template <class T>
struct Matrix {
  T* data;
  std::uint64_t stride;
};

struct ProductShape {
  std::uint64_t rows, columns, inner;  // of C, of C, and what is summed over
};

/// The type in which operands of a file's type are handed to the product, so that it loses nothing
/// that `compute` does not ask for: they are converted on the device where the two differ.
ElementType operand_type(DeviceKind device, Precision precision, ElementType file_type);

/// The type of the product: f8 for f64, else f4.
ElementType product_type(Precision precision);

/// A matrix product, as a BLAS library does it. Used by one thread.
class Gemm {
 public:
  virtual ~Gemm() = default;

  /// C = A B, or C += A B if `accumulate`. Enqueued on the stream; on the CPU done on return.
  virtual void multiply(Stream& stream, Matrix<const std::byte> a, Matrix<const std::byte> b,
                        Matrix<std::byte> c, ProductShape sizes, bool accumulate) = 0;

  /// The library and its version: "cuBLAS 13.0.2", "OpenBLAS 0.3.21".
  virtual std::string name() const = 0;
};

/// Bytes of device memory that the product works best with, out of a budget of `device_bytes`.
std::size_t workspace_bytes(DeviceKind device, std::uint64_t device_bytes);

/// Loads the library of the device: cuBLAS for a GPU, OpenBLAS for the CPU, where `threads` use
/// it. `workspace`: device memory of workspace_bytes(), which outlives the result. Throws Error:
/// `device` if the library is not there, with what to install; `usage` for tf32 or bf16 on the CPU.
std::unique_ptr<Gemm> make_gemm(DeviceKind device, Precision precision, ElementType operand,
                                DeviceSpan<std::byte> workspace, std::size_t threads);

/// Loads the library of a GPU on a thread of its own, which make_gemm() then finds loaded. It has
/// half a gigabyte, and loading it takes as long as a GPU takes to start. Does nothing for the CPU,
/// and where there is no thread. What goes wrong, make_gemm() reports.
std::jthread load_early(DeviceKind device);

// What make_gemm chooses from. The operand is one that operand_type() names.
std::unique_ptr<Gemm> make_openblas_gemm(ElementType operand, std::size_t threads);
std::unique_ptr<Gemm> make_cublas_gemm(Precision precision, ElementType operand,
                                       DeviceSpan<std::byte> workspace);
void load_cublas_library();  // throws as make_cublas_gemm() does where there is none

}  // namespace ooc::gemm
