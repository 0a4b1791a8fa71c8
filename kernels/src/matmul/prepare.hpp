#pragma once

#include "gemm/gemm.hpp"
#include "matmul/run.hpp"

#include <ooc/buffer.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/kernels/matmul.hpp>

#include <memory>

namespace ooc::product {

/// A product that is planned, with the library that will do it.
struct Prepared {
  double device_seconds = 0;  // for which the device was waited for
  ProductJob job;
  MatmulPlan plan;
  Buffer workspace;  // of the library, on the device
  std::unique_ptr<gemm::Gemm> gemm;
};

/// Throws Error(bad_input) unless the sources are matrices of one supported type that fit together.
void require_matrices(const Source& a, const Source& b);

/// As asked for, or the inputs' own.
Precision precision_of(const Source& a, const MatmulOptions& options);

/// Loads the library, divides the memory, and makes the schedule, for a caller who has reserved the
/// coordinator. `output_in_memory`: bytes that
/// the output takes of the host's memory, because it lies in tmpfs. Throws Error as
/// dry_run_matmul().
Prepared prepare(Coordinator& coordinator, const Source& a, const Source& b,
                 const MatmulOptions& options, std::uint64_t output_in_memory);

}  // namespace ooc::product
