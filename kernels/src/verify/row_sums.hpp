#pragma once

#include <ooc/coordinator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Multiplies a matrix in a file by a few vectors in memory, for Freivalds' check of a product.

namespace ooc::detail::freivalds {

inline constexpr std::size_t vector_count = 8;  // vectors multiplied in one pass

/// Row j of the vectors, which multiplies column j of a matrix; also the sums of a row of that
/// matrix, which multiply the columns of the next matrix. `magnitude` and `norm` multiply absolute
/// values.
struct Factors {
  std::array<double, vector_count> vectors{};
  double magnitude = 0;
  double norm = 0;
};

/// The sums of one row of a matrix. Elements that are not finite count as 0 in them.
struct RowSums {
  Factors sums;
  double largest = 0;                // absolute value
  std::uint64_t nonfinite = 0;       // number of such elements
  std::uint64_t nonfinite_used = 0;  // in columns whose `magnitude` factor is not 0
};

struct RowPass {
  std::vector<RowSums> rows;
  // 1 for each column with such an element, else 0. Empty if there is none.
  std::vector<std::uint8_t> nonfinite_columns{};
};

/// Multiplies a matrix of floating type by the factors, in one pass on a CPU coordinator. Elements
/// whose magnitude is `limit` or more count as not finite. The sums have the same bits for any
/// chunk size and number of streams. Throws Error(interrupted) if the pass was stopped.
RowPass sum_rows(Coordinator& coordinator, const Source& matrix, std::uint64_t rows,
                 std::uint64_t columns, std::span<const Factors> factors, double limit,
                 PassOptions wanted = {});

/// Returns the bytes of memory for such a pass, without the factors and the coordinator's pool.
std::uint64_t pass_bytes(std::uint64_t rows, std::uint64_t columns);

/// Returns a bound on the number of roundings of any term in the sums of a row.
double roundings(std::uint64_t columns);

}  // namespace ooc::detail::freivalds
