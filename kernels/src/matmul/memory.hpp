#pragma once

#include "matmul/product_checkpoint.hpp"
#include "matmul/run.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ooc::detail::product {

/// The division of the memory (bytes).
struct Memory {
  std::uint64_t device_bytes = 0;  // all device memory that the product may use
  std::uint64_t for_panels = 0;    // part of device_bytes for panels and tiles
  std::size_t workspace = 0;       // part of device_bytes for the BLAS library
  std::uint64_t host_left = 0;     // host memory beside the pools
  bool is_host_memory = false;     // true if device_bytes is host memory
};

/// Divides the memory of a product on a device, and makes the schedule that fits in it. If a limit
/// is too low, the error names the lowest limit that is enough.
class MemoryDivision {
 public:
  /// `output_bytes`: memory that the output takes. `keeps`: panels are kept in host memory.
  /// `begun`: the work of an earlier run on this block.
  MemoryDivision(const Workplace& place, std::uint64_t output_bytes, bool keeps,
                 const std::optional<ProductCheckpoint::Begun>& begun)
      : place_(place), output_bytes_(output_bytes), keeps_(keeps), begun_(begun) {}

  /// Assigns host memory to the pools first. The rest is for panels on a CPU, or for the panel
  /// cache with a GPU. Sets the job's pools. Throws Error(memory).
  Memory divide(ProductJob& job, const Rates& rates) const;

  /// Returns the schedule of a job, or the rest of the one that was begun. Throws Error(memory).
  Schedule schedule(const ProductJob& job, const Memory& memory, const Rates& rates) const;

 private:
  Schedule schedule_within(const Memory& memory, const Problem& problem, const Rates& rates) const;
  Error with_least(const Error& error, const ProductJob& job, const Rates& rates) const;

  const Workplace& place_;
  std::uint64_t output_bytes_;
  bool keeps_;
  const std::optional<ProductCheckpoint::Begun>& begun_;
};

}  // namespace ooc::detail::product
