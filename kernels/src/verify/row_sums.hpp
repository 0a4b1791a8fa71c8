#pragma once

#include <ooc/coordinator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// A matrix in a file times a few vectors in memory: what Freivalds' check of a product is made of.

namespace ooc::freivalds {

inline constexpr std::size_t vector_count = 8;  // that go through a pass together

/// Row j of the vectors, by which column j of the matrix is multiplied; and what the rows of the
/// matrix then sum up to, by which the columns of the next matrix are multiplied. The two last
/// ones are for its absolute values.
struct Factors {
  std::array<double, vector_count> vectors{};
  double magnitude = 0;
  double norm = 0;
};

/// What a row of a matrix sums up to. Elements that are not finite count as 0 there.
struct RowSums {
  Factors sums;
  double largest = 0;                // absolute value
  std::uint64_t nonfinite = 0;       // elements
  std::uint64_t nonfinite_used = 0;  // those in columns whose factor for the magnitude is not 0
};

struct RowPass {
  std::vector<RowSums> rows;
  std::vector<std::uint8_t> nonfinite_columns{};  // 1 for each that holds such an element, or empty
};

/// One pass over a matrix of floating type, on a CPU coordinator. What is not smaller than `limit`
/// is not finite. The sums have the same bits however the source is read. Throws Error:
/// `interrupted` if the pass was stopped.
RowPass sum_rows(Coordinator& coordinator, const Source& matrix, std::uint64_t rows,
                 std::uint64_t columns, std::span<const Factors> factors, double limit,
                 PassOptions wanted = {});

/// Bytes that such a pass takes, without the factors and the coordinator's pool.
std::uint64_t pass_bytes(std::uint64_t rows, std::uint64_t columns);

/// How often at most a term of a row's sums has been rounded in the end.
double roundings(std::uint64_t columns);

}  // namespace ooc::freivalds
