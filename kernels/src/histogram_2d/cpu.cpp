#include "histogram_2d/cells.hpp"

namespace ooc::detail::pairs {

void join_numbers_cpu(const CellNumbers& cells, const std::uint32_t* __restrict x,
                      std::uint32_t* __restrict y, std::size_t count) {
  const CellNumbers local = cells;
  for (std::size_t i = 0; i < count; ++i) y[i] = local.number_of(x[i], y[i]);
}

}  // namespace ooc::detail::pairs
