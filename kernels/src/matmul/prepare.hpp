#pragma once

#include "gemm/gemm.hpp"
#include "matmul/product_checkpoint.hpp"
#include "matmul/run.hpp"

#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/matmul.hpp>
#include <ooc/memory.hpp>

#include <memory>
#include <optional>

namespace ooc::detail::product {

/// A planned product, and the library that will compute it.
struct Prepared {
  double device_seconds = 0;  // time spent waiting for the device to start
  ProductJob job;
  MatmulPlan plan;
  Buffer workspace;  // device memory for the library
  std::unique_ptr<gemm::Gemm> gemm;
};

/// The operands of C = A B, the precision, and the file of C.
struct Multiplication {
  const Source& a;
  const Source& b;
  Precision precision;
  DType type;                  // of C
  TargetFile* file = nullptr;  // of C; null if it is not written

  std::uint64_t rows() const { return a.shape()[0]; }
  std::uint64_t columns() const { return b.shape()[1]; }
};

/// Binds the thread to the device and, if there are several, to its NUMA node. Loads the BLAS
/// library, divides the memory, and makes the schedule for a block of C. `begun`: the work of an
/// earlier run on this block. Throws Error as dry_run_matmul().
Prepared prepare(const Workplace& place, const Multiplication& product, const Region& block,
                 const std::optional<ProductCheckpoint::Begun>& begun = {});

}  // namespace ooc::detail::product
