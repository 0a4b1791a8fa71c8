#pragma once

#include "gemm/gemm.hpp"
#include "matmul/plan/region_plan.hpp"
#include "matmul/plan/schedule.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>
#include <ooc/target.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ooc::detail::product {

/// Element types at each stage: in the files of A and B, as operands of the product, and in C.
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
  std::size_t staging_bytes = 0;  // on the device, for elements before their conversion

  std::size_t bytes() const { return slot_bytes * (in_slots + out_slots); }
};

/// A device that multiplies, and the resources that it may use.
struct Workplace {
  Device& device;
  Options options{};        // `memory_bytes` is for this device only
  std::size_t devices = 1;  // number of devices that share the memory of the host
};

/// The arguments for executing the schedule of a block of C.
struct ProductJob {
  Problem problem;
  Schedule schedule;
  Types types;
  std::array<const File*, 2> files;      // of A and B
  std::array<StoredMatrix, 2> operands;  // the rows of A and the columns of B for this block
  StoredMatrix product;                  // the block of C, in the writer's only file
  Pools pools;
  IoConfig reads;
  Workers workers;
  std::size_t threads = 0;  // of the BLAS library on a CPU
};

/// The progress of a device over its blocks. Set by the threads of the current block.
struct ProductProgress {
  std::atomic<double> products{0};        // multiplications of two elements
  std::atomic<std::uint64_t> bytes{0};    // bytes read and written
  std::atomic<std::size_t> in_flight{0};  // reads and writes
};

/// Returns the error for a product that was stopped.
Error interrupted();

/// Executes a schedule and writes its block of C to `file`. Calls `note` from time to time, and at
/// the end or after an interruption, with the number of tiles of the schedule that are written.
/// Uses `stop` and `observe` of `wanted`. Adds to `stats`. Returns the number of bytes that crossed
/// the link. Four threads are connected by pools:
///
///     reader ──pool──► multiplier ──tiles──► sender ──pool──► writer
///              pieces   H2D, gemm    of C      D2H    pieces
///
/// Three streams of the device (panels in, products, tiles out) are synchronised by events.
std::uint64_t run_product(const Workplace& place, const ProductJob& job, gemm::Gemm& gemm,
                          TargetFile& file, const PassOptions& wanted, Stats& stats,
                          ProductProgress& progress,
                          const std::function<void(std::uint64_t tiles)>& note = {});

}  // namespace ooc::detail::product
