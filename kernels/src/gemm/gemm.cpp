#include "gemm/gemm.hpp"

#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/kernels/blas.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <exception>
#include <string>

namespace ooc {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::f32: return "f32";
    case Precision::tf32: return "tf32";
    case Precision::bf16: return "bf16";
    case Precision::f64: return "f64";
  }
  __builtin_unreachable();
}

}  // namespace ooc

namespace ooc::detail::gemm {

ElementType operand_type(DeviceKind device, Precision precision, ElementType file_type) {
  switch (precision) {
    case Precision::f64: return ElementType::f8;
    case Precision::bf16: return ElementType::bf16;
    case Precision::f32:
    case Precision::tf32: break;
  }
  // Tensor cores multiply f2 and bf16 exactly and sum in f32. CPU libraries have no such product.
  const bool narrow = file_type == ElementType::f2 || file_type == ElementType::bf16;
  return narrow && device == DeviceKind::cuda ? file_type : ElementType::f4;
}

ElementType product_type(Precision precision) {
  return precision == Precision::f64 ? ElementType::f8 : ElementType::f4;
}

std::size_t workspace_bytes(DeviceKind device, std::uint64_t device_bytes) {
  // The size that cuBLAS recommends on Hopper, and the least that it works with. It uses the
  // workspace for products that are split along `inner`. Large products are not split, so a small
  // workspace costs little where memory is short.
  constexpr std::uint64_t recommended = 32 * MiB;
  constexpr std::uint64_t least = 16 * KiB;
  constexpr std::uint64_t alignment = 256;
  if (device == DeviceKind::cpu) return 0;
  return round_down(std::clamp(device_bytes / 16, least, recommended), alignment);
}

std::unique_ptr<Gemm> make_gemm(DeviceKind device, Precision precision, ElementType operand,
                                DeviceSpan<std::byte> workspace, std::size_t threads) {
  if (device == DeviceKind::cuda) return make_cublas_gemm(precision, operand, workspace);
  if (precision == Precision::tf32 || precision == Precision::bf16) {
    throw Error(ErrorKind::usage,
                std::string(name_of(precision)) + " needs a GPU: CPUs have no such product",
                {.remedies = {{RemedyAction::set, "MatmulOptions::precision", "f32"},
                              {RemedyAction::set, "Device::kind", "cuda"}}});
  }
  return make_openblas_gemm(operand, threads);
}

std::jthread load_early(DeviceKind device) {
  if (device != DeviceKind::cuda) return {};
  try {
    return start_thread([](const std::stop_token&) {
      try {
        load_cublas_library();
      } catch (const std::exception&) {
        // make_gemm() will throw the same error.
      }
    });
  } catch (const Error&) {
    return {};
  }
}

}  // namespace ooc::detail::gemm

namespace ooc::detail {

std::string cpu_blas() {
  return gemm::make_openblas_gemm(ElementType::f4, 1)->name();
}

}  // namespace ooc::detail
