#include "matmul/plan/timeline.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "matmul/plan/cost.hpp"

namespace ooc::detail::product {

namespace {

class Timeline {
 public:
  Timeline(const Problem& problem, const Tiling& tiling, const Rates& rates)
      : problem_(problem),
        tiling_(tiling),
        rates_(rates),
        a_free_(tiling.a_buffers),
        b_free_(tiling.b_buffers),
        c_free_(tiling.c_buffers) {}

  void bring(const Load& load) {
    const bool a = load.operand == Operand::a;
    const std::uint64_t rows = a ? rows_of(load.row) : inner_of(load.row);
    const std::uint64_t columns = a ? inner_of(load.column) : columns_of(load.column);
    const double& free = (a ? a_free_ : b_free_)[load.buffer];
    loaded_ = std::max(loaded_, free) +
              load_seconds(problem_, load.operand, rows, columns, load.from == none, rates_);
  }

  void multiply(const Step& step) {
    const std::uint64_t rows = rows_of(step.row), columns = columns_of(step.column);
    double begin = std::max(multiplied_, loaded_);
    if (step.inner == 0) begin = std::max(begin, c_free_[step.c_buffer]);
    multiplied_ = begin + product_seconds(rows, columns, inner_of(step.inner), rates_);
    a_free_[step.a_buffer] = b_free_[step.b_buffer] = multiplied_;
    if (step.inner + 1 < tiling_.inner_tiles) return;
    sent_ = std::max(sent_, multiplied_) + send_seconds(problem_, rows, columns, rates_);
    c_free_[step.c_buffer] = sent_;
  }

  double end() const { return sent_; }

 private:
  std::uint64_t rows_of(std::uint64_t row) const {
    return part_size(problem_.rows, tiling_.tile_rows, row);
  }
  std::uint64_t columns_of(std::uint64_t column) const {
    return part_size(problem_.columns, tiling_.tile_columns, column);
  }
  std::uint64_t inner_of(std::uint64_t inner) const {
    return part_size(problem_.inner, tiling_.tile_inner, inner);
  }

  const Problem& problem_;
  const Tiling& tiling_;
  const Rates& rates_;
  std::vector<double> a_free_, b_free_, c_free_;   // when each buffer is free, in seconds
  double loaded_ = 0, multiplied_ = 0, sent_ = 0;  // when the last of each has ended
};

}  // namespace

double seconds_of(const Problem& problem, const Schedule& schedule, const Rates& rates) {
  Timeline timeline(problem, schedule.tiling, rates);
  auto load = schedule.loads.begin();
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    for (; load != schedule.loads.end() && load->step == i; ++load) timeline.bring(*load);
    timeline.multiply(schedule.steps[i]);
  }
  return timeline.end();
}

}  // namespace ooc::detail::product
