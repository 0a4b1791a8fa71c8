#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "matmul/plan/schedule.hpp"

namespace ooc::detail::product {

using Panel = std::pair<std::uint64_t, std::uint64_t>;  // row and column in the grid of panels

/// A model of a machine that carries out a schedule: it loads panels into the cache and into device
/// buffers, multiplies, and counts bytes. Each error of the schedule fails the test.
class Machine {
 public:
  Machine(const Problem& problem, const Schedule& schedule)
      : problem_(problem),
        tiling_(schedule.tiling),
        a_(tiling_.a_buffers),
        b_(tiling_.b_buffers),
        cache_(tiling_.cache_entries),
        begun_(tiling_.row_tiles * tiling_.column_tiles) {}

  void run(const Schedule& schedule) {
    auto load = schedule.loads.begin();
    for (std::uint64_t i = 0; i < schedule.steps.size(); ++i) {
      const Step& step = schedule.steps[i];
      for (; load != schedule.loads.end() && load->step == i; ++load) bring(*load, step);
      multiply(step);
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_TRUE(load == schedule.loads.end()) << "loads are not sorted";
    ASSERT_EQ(tiles_done_, tiling_.row_tiles * tiling_.column_tiles);
    ASSERT_EQ(inner_, 0u) << "the last tile is not done";
    for (const auto& [entry, reads] : reads_of_kept_) ASSERT_GT(reads, 0u) << "kept in vain";
  }

  std::uint64_t link_in_bytes = 0, link_out_bytes = 0, read_bytes = 0;

 private:
  void bring(const Load& load, const Step& step) {
    const bool a = load.operand == Operand::a;
    auto& buffers = a ? a_ : b_;
    ASSERT_LT(load.buffer, buffers.size());
    const Panel panel{load.row, load.column};
    ASSERT_EQ(panel, a ? Panel(step.row, step.inner) : Panel(step.inner, step.column));
    ASSERT_TRUE(std::ranges::find(buffers, panel) == buffers.end()) << "it is there already";
    if (buffers.size() > 1) {
      ASSERT_NE(load.buffer, a ? last_a_ : last_b_) << "the product before still uses it";
    }
    buffers[load.buffer] = panel;
    const std::uint64_t bytes = panel_bytes(load);
    link_in_bytes += bytes;
    if (load.from == none) {
      read_bytes += bytes;
      if (load.keep != none) keep(load, bytes);
    } else {
      ASSERT_EQ(load.keep, none);
      const auto entry = static_cast<std::size_t>(load.from);
      ASSERT_LT(entry, cache_.size());
      ASSERT_TRUE(cache_[entry] == std::make_pair(load.operand, panel));
      ++reads_of_kept_[entry];
    }
  }

  void keep(const Load& load, std::uint64_t bytes) {
    const auto entry = static_cast<std::size_t>(load.keep);
    ASSERT_LT(entry, cache_.size());
    ASSERT_LE(bytes, tiling_.cache_entry_bytes);
    cache_[entry] = {load.operand, {load.row, load.column}};
    reads_of_kept_.try_emplace(entry, 0);
  }

  void multiply(const Step& step) {
    ASSERT_LT(step.row, tiling_.row_tiles);
    ASSERT_LT(step.column, tiling_.column_tiles);
    ASSERT_EQ(a_.at(step.a_buffer), Panel(step.row, step.inner));
    ASSERT_EQ(b_.at(step.b_buffer), Panel(step.inner, step.column));
    ASSERT_LT(step.c_buffer, tiling_.c_buffers);
    last_a_ = step.a_buffer;
    last_b_ = step.b_buffer;
    ASSERT_EQ(step.inner, inner_);
    if (inner_ == 0) {
      ASSERT_FALSE(begun_[step.row * tiling_.column_tiles + step.column]) << "a tile made twice";
      begun_[step.row * tiling_.column_tiles + step.column] = true;
      if (tiling_.c_buffers > 1 && tile_) {
        ASSERT_NE(step.c_buffer, c_buffer_) << "the tile before is still on its way out";
      }
      tile_ = Panel(step.row, step.column);
      c_buffer_ = step.c_buffer;
    }
    ASSERT_EQ(tile_, Panel(step.row, step.column));
    ASSERT_EQ(step.c_buffer, c_buffer_);
    if (++inner_ < tiling_.inner_tiles) return;
    inner_ = 0;
    ++tiles_done_;
    link_out_bytes += part_size(problem_.rows, tiling_.tile_rows, step.row) *
                      part_size(problem_.columns, tiling_.tile_columns, step.column) *
                      problem_.product_bytes;
  }

  std::uint64_t panel_bytes(const Load& load) const {
    const bool a = load.operand == Operand::a;
    const std::uint64_t rows = a ? part_size(problem_.rows, tiling_.tile_rows, load.row)
                                 : part_size(problem_.inner, tiling_.tile_inner, load.row);
    const std::uint64_t columns =
        a ? part_size(problem_.inner, tiling_.tile_inner, load.column)
          : part_size(problem_.columns, tiling_.tile_columns, load.column);
    return rows * columns * problem_.file_bytes;
  }

  const Problem problem_;
  const Tiling tiling_;
  std::vector<std::optional<Panel>> a_, b_;
  std::vector<std::optional<std::pair<Operand, Panel>>> cache_;
  std::vector<bool> begun_;                             // tiles
  std::map<std::size_t, std::uint64_t> reads_of_kept_;  // of an entry
  std::optional<Panel> tile_;
  std::uint64_t inner_ = 0, tiles_done_ = 0;
  std::uint32_t c_buffer_ = 0;
  std::optional<std::uint32_t> last_a_, last_b_;
};

}  // namespace ooc::detail::product
