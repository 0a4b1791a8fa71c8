#include "matmul/plan/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "matmul/plan/cost.hpp"

namespace ooc::detail::product {
namespace {

constexpr Problem problem{.rows = 8192,
                          .columns = 4096,
                          .inner = 2048,
                          .file_bytes = 4,
                          .operand_bytes = 4,
                          .product_bytes = 4};
constexpr Rates rates{.read = 10e9, .link = 40e9, .write = 20e9, .flops = 10e12, .row_seconds = 0};

// Of the panels, products and tiles of a tiling in two rows.
const double load_a = load_seconds(problem, Operand::a, 4096, 2048, true, rates);
const double load_b = load_seconds(problem, Operand::b, 2048, 4096, true, rates);
const double multiply = product_seconds(4096, 4096, 2048, rates);
const double send = send_seconds(problem, 4096, 4096, rates);

/// Returns the schedule of C in two rows of tiles.
Schedule two_rows(std::size_t a_buffers, std::size_t c_buffers) {
  Schedule schedule;
  schedule.tiling = {.tile_rows = 4096,
                     .tile_columns = 4096,
                     .tile_inner = 2048,
                     .row_tiles = 2,
                     .column_tiles = 1,
                     .inner_tiles = 1,
                     .a_buffers = a_buffers,
                     .b_buffers = 1,
                     .c_buffers = c_buffers};
  const auto second_a = static_cast<std::uint32_t>(a_buffers - 1);
  const auto second_c = static_cast<std::uint32_t>(c_buffers - 1);
  schedule.loads = {{0, Operand::a, 0, 0, 0}, {0, Operand::b, 0, 0, 0}};
  schedule.loads.push_back({1, Operand::a, 1, 0, second_a});
  schedule.steps = {{0, 0, 0, 0, 0, 0}, {1, 0, 0, second_a, 0, second_c}};
  return schedule;
}

TEST(Timeline, TheRatesOfItsParts) {
  EXPECT_NEAR(load_a, 4096.0 * 2048 * 4 / rates.read, 30e-6);
  EXPECT_NEAR(load_seconds(problem, Operand::a, 4096, 2048, false, rates),
              4096.0 * 2048 * 4 / rates.link, 30e-6);
  EXPECT_GT(multiply, 2.0 * 4096 * 4096 * 2048 / rates.flops);
  EXPECT_NEAR(send, 4096.0 * 4096 * 4 / rates.write, 30e-6);
}

TEST(Timeline, LoadsOverlapProductsIfThereAreBuffers) {
  const double first = load_a + load_b + multiply;
  EXPECT_DOUBLE_EQ(
      seconds_of(problem, two_rows(2, 2), rates),
      load_a + load_b +
          std::max({multiply + send + send, std::max(load_a, multiply) + multiply + send}));
  // With one buffer, the second panel waits for the first product.
  EXPECT_DOUBLE_EQ(seconds_of(problem, two_rows(1, 2), rates),
                   std::max(first + send + send, first + load_a + multiply + send));
}

TEST(Timeline, ATileWaitsForItsBuffer) {
  const double first = load_a + load_b + multiply;
  EXPECT_DOUBLE_EQ(seconds_of(problem, two_rows(2, 1), rates), first + send + multiply + send);
}

TEST(Timeline, PanelsOfTheCacheTakeTheTimeOfTheLink) {
  Schedule schedule = two_rows(1, 2);
  for (Load& load : schedule.loads) load.from = 0;
  EXPECT_LT(seconds_of(problem, schedule, rates), seconds_of(problem, two_rows(1, 2), rates));
}

TEST(Timeline, NoStepsTakeNoTime) {
  EXPECT_EQ(seconds_of(problem, {}, rates), 0);
}

}  // namespace
}  // namespace ooc::detail::product
