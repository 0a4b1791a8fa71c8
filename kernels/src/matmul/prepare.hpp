#pragma once

#include "gemm/gemm.hpp"
#include "matmul/run.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/device/buffer.hpp>
#include <ooc/detail/kernels/matmul.hpp>

#include <memory>

namespace ooc::product {

/// A planned product, and the library that will compute it.
struct Prepared {
  double device_seconds = 0;  // time spent waiting for the device to start
  ProductJob job;
  MatmulPlan plan;
  Buffer workspace;  // device memory for the library
  std::unique_ptr<gemm::Gemm> gemm;
};

/// Throws Error(bad_input) unless the sources are matrices of one supported type that fit together.
void require_matrices(const Source& a, const Source& b);

/// Returns options.precision, or else the default for the type of the inputs.
Precision precision_of(const Source& a, const MatmulOptions& options);

/// Loads the library, divides the memory, and makes the schedule. `reservation`: of
/// the coordinator. `output_in_memory`: bytes of host memory that the output takes because it is in
/// tmpfs. `checkpoint`: of an earlier run, whose schedule goes on; or null. Throws Error as
/// dry_run_matmul().
Prepared prepare(Coordinator& coordinator, Coordinator::Reservation& reservation, const Source& a,
                 const Source& b, const MatmulOptions& options, std::uint64_t output_in_memory,
                 const ProductCheckpoint* checkpoint = nullptr);

}  // namespace ooc::product
