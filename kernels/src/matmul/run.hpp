#pragma once

#include "gemm/gemm.hpp"
#include "matmul/plan/region_plan.hpp"
#include "matmul/plan/schedule.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io_config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace ooc::product {

/// How elements change on their way: what lies in the files of A and B, what the product takes,
/// and what it makes.
struct Types {
  DType file;
  ElementType operand;
  DType product;

  bool converts() const { return file.element != operand; }
};

/// Host memory through which panels come and tiles go, in slots of one piece each.
struct Pools {
  std::size_t slot_bytes = 0;
  std::size_t in_slots = 0, out_slots = 0;
  std::size_t staging_bytes = 0;  // on the device, for elements that are yet to be converted

  std::size_t bytes() const { return slot_bytes * (in_slots + out_slots); }
};

/// Everything that the execution of a schedule needs to know.
struct ProductJob {
  Problem problem;
  Schedule schedule;
  Types types;
  std::array<const File*, 2> files;      // of A and B
  std::array<StoredMatrix, 2> operands;  // A and B
  Pools pools;
  IoConfig reads;
  Workers workers;
  std::size_t threads = 0;  // of a BLAS library on a CPU
};

/// What a product ends with that is stopped.
Error interrupted();

/// Carries out a schedule and writes C to `file`, which is left to the caller to publish. Adds what
/// it did to `stats`; returns the bytes that went over the link. Four threads, which meet in pools:
///
///     reader ──pool──► multiplier ──tiles──► sender ──pool──► writer
///              pieces   H2D, gemm    of C      D2H    pieces
///
/// On the device three streams (panels in, products, tiles out) are kept in order by events.
std::uint64_t run_product(Coordinator& coordinator, const ProductJob& job, gemm::Gemm& gemm,
                          TargetFile& file, const PassOptions& wanted, Stats& stats);

}  // namespace ooc::product
