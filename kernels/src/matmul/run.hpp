#pragma once

#include "gemm/gemm.hpp"
#include "matmul/plan/region_plan.hpp"
#include "matmul/plan/schedule.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ooc::product {

/// Element types along the way: in the files of A and B, as operands of the product, and in C.
struct Types {
  DType file;
  ElementType operand;
  DType product;

  bool converts() const { return file.element != operand; }
};

/// Pools in host memory, through which panels are read and tiles written. A slot holds one piece.
struct Pools {
  std::size_t slot_bytes = 0;
  std::size_t in_slots = 0, out_slots = 0;
  std::size_t staging_bytes = 0;  // on the device, for elements that are not converted yet

  std::size_t bytes() const { return slot_bytes * (in_slots + out_slots); }
};

/// Everything that is needed to execute a schedule.
struct ProductJob {
  Problem problem;
  Schedule schedule;
  Types types;
  std::array<const File*, 2> files;      // of A and B
  std::array<StoredMatrix, 2> operands;  // A and B
  Pools pools;
  IoConfig reads;
  Workers workers;
  std::size_t threads = 0;  // of the BLAS library on a CPU
};

class ProductCheckpoint;

/// Returns the error for a product that was stopped.
Error interrupted();

/// Executes a schedule and writes C to `file`; the caller commits the file. Saves to `checkpoint`,
/// if it is not null, from time to time, when it was stopped, and at the end. Adds to `stats`.
/// Returns the number of bytes that crossed the link. Four threads connected by pools:
///
///     reader ──pool──► multiplier ──tiles──► sender ──pool──► writer
///              pieces   H2D, gemm    of C      D2H    pieces
///
/// Three streams of the device (panels in, products, tiles out) are synchronised by events.
std::uint64_t run_product(Coordinator& coordinator, const ProductJob& job, gemm::Gemm& gemm,
                          TargetFile& file, const PassOptions& wanted, Stats& stats,
                          ProductCheckpoint* checkpoint = nullptr);

}  // namespace ooc::product
