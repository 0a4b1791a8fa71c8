#include "matmul/plan/schedule.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/matmul/plan/schedule_machine.hpp"
#include "support/effort.hpp"

namespace ooc::detail::product {

void PrintTo(const Problem& p, std::ostream* out) {
  *out << p.rows << " x " << p.columns << " x " << p.inner << " of " << p.file_bytes << ", "
       << p.operand_bytes << ", " << p.product_bytes << " bytes";
}

namespace {

constexpr Rates h200{.read = 40e9, .link = 50e9, .write = 8e9, .flops = 54e12};

Problem f4(std::uint64_t rows, std::uint64_t columns, std::uint64_t inner) {
  return {rows, columns, inner, 4, 4, 4};
}

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

std::uint64_t widest(const Problem& problem) {
  return std::max({problem.file_bytes, problem.operand_bytes, problem.product_bytes});
}

// --- properties of every schedule ----------------------------------------------------------------

/// The largest ratios of traffic to its bound in any schedule.
struct Ratios {
  double link = 0;
  double files = 0;  // of the device's bound, where the cache does not serve
  double cache = 0;  // of the cache's, where it does
  std::uint64_t served = 0, schedules = 0;
};

void expect_tiles_cover(std::uint64_t total, std::uint64_t size, std::uint64_t tiles) {
  ASSERT_GE(size, 1u);
  ASSERT_EQ(tiles, divide_up(total, size));
}

void check_memory(const Problem& problem, const Limits& limits, const Schedule& schedule) {
  const Tiling& t = schedule.tiling;
  const std::uint64_t device = (t.a_buffers * t.tile_rows + t.b_buffers * t.tile_columns) *
                                   t.tile_inner * problem.operand_bytes +
                               t.c_buffers * t.tile_rows * t.tile_columns * problem.product_bytes;
  ASSERT_LE(device, limits.device_bytes);
  ASSERT_EQ(device, schedule.cost.device_bytes);
  ASSERT_LE(t.cache_entries * t.cache_entry_bytes, limits.cache_bytes);
}

/// Checks that each tile has a row or a column in common with the previous one, so that a panel can
/// be used again.
void check_order(const Schedule& schedule) {
  for (std::size_t i = 1; i < schedule.steps.size(); ++i) {
    const Step& before = schedule.steps[i - 1];
    const Step& step = schedule.steps[i];
    ASSERT_TRUE(step.row == before.row || step.column == before.column) << "step " << i;
  }
}

void check_traffic(const Problem& problem, const Limits& limits, const Cost& cost, Ratios& ratios) {
  const double device = as_double(limits.device_bytes);
  const double link = as_double(cost.link_in_bytes + cost.link_out_bytes);
  const double files = as_double(cost.read_bytes + cost.write_bytes);
  const double link_ratio = link / traffic_bound(problem, device);
  const double cache_ratio = files / traffic_bound(problem, device + as_double(limits.cache_bytes));
  ASSERT_LE(link_ratio, 1);
  ASSERT_LE(files, link);
  if (cost.cache_serves) {
    ASSERT_LE(cache_ratio, 1);
  }
  ratios.link = std::max(ratios.link, link_ratio);
  double& ratio = cost.cache_serves ? ratios.cache : ratios.files;
  ratio = std::max(ratio, cost.cache_serves ? cache_ratio : link_ratio);
  ratios.served += cost.cache_serves;
  ++ratios.schedules;
}

void check(const Problem& problem, const Limits& limits, const Schedule& schedule, Ratios& ratios) {
  const Tiling& tiling = schedule.tiling;
  const Cost& cost = schedule.cost;
  ASSERT_NO_FATAL_FAILURE(expect_tiles_cover(problem.rows, tiling.tile_rows, tiling.row_tiles));
  ASSERT_NO_FATAL_FAILURE(
      expect_tiles_cover(problem.columns, tiling.tile_columns, tiling.column_tiles));
  ASSERT_NO_FATAL_FAILURE(expect_tiles_cover(problem.inner, tiling.tile_inner, tiling.inner_tiles));
  ASSERT_NO_FATAL_FAILURE(check_memory(problem, limits, schedule));
  Machine machine(problem, schedule);
  ASSERT_NO_FATAL_FAILURE(machine.run(schedule));
  ASSERT_EQ(machine.link_in_bytes, cost.link_in_bytes);
  ASSERT_EQ(machine.link_out_bytes, cost.link_out_bytes);
  ASSERT_EQ(machine.read_bytes, cost.read_bytes);
  ASSERT_EQ(cost.write_bytes, problem.rows * problem.columns * problem.product_bytes);
  ASSERT_EQ(cost.link_out_bytes, cost.write_bytes);
  ASSERT_NO_FATAL_FAILURE(check_order(schedule));
  ASSERT_NO_FATAL_FAILURE(check_traffic(problem, limits, cost, ratios));
  ASSERT_GE(cost.seconds, cost.flops / h200.flops);
}

void check(const Problem& problem, const Limits& limits, Ratios& ratios,
           const Rates& rates = h200) {
  SCOPED_TRACE(testing::PrintToString(problem) + ", device " + std::to_string(limits.device_bytes) +
               ", cache " + std::to_string(limits.cache_bytes));
  Schedule schedule;
  ASSERT_NO_THROW(schedule = make_schedule(problem, limits, rates));
  ASSERT_NO_FATAL_FAILURE(check(problem, limits, schedule, ratios));
}

std::string in_words(const Ratios& ratios) {
  char text[200];
  std::snprintf(text, sizeof text,
                "%llu schedules, largest parts of the bounds: link %.4f, files %.4f, files with "
                "cache %.4f (%llu schedules)",
                static_cast<unsigned long long>(ratios.schedules), ratios.link, ratios.files,
                ratios.cache, static_cast<unsigned long long>(ratios.served));
  return text;
}

// --- bounds --------------------------------------------------------------------------------------

/// Returns dimensions to test with memory for `elements`: tiny ones, and multiples of the side of a
/// square that fills the memory, from a small part to many times it.
std::vector<std::uint64_t> dimensions(std::uint64_t elements) {
  const double side = std::sqrt(as_double(elements));
  std::vector<std::uint64_t> all{1, 7};
  for (const double share : {0.11, 0.5, 1.0, 1.5, 2.02, 4.4, 30.0}) {
    all.push_back(static_cast<std::uint64_t>(share * side) | 1);
  }
  return all;
}

TEST(MatmulSchedule, TrafficKeepsToTheBound) {
  Ratios ratios;
  std::uint64_t combination = 0;
  const std::size_t types[][3] = {{4, 4, 4}, {8, 8, 8}, {2, 2, 4}, {2, 4, 4}, {4, 8, 8}};
  for (const std::uint64_t elements : {16, 61, 300, 1009, 10'007, 1'000'003}) {
    for (const std::uint64_t rows : dimensions(elements)) {
      for (const std::uint64_t columns : dimensions(elements)) {
        for (const std::uint64_t inner : dimensions(elements)) {
          // Each shape gets one of the types and one of the cache sizes in turn.
          const auto& type = types[combination % 5];
          const Problem problem{rows, columns, inner, type[0], type[1], type[2]};
          const std::uint64_t device_bytes = elements * widest(problem);
          const std::uint64_t cache_bytes =
              device_bytes * (combination % 7) * (combination % 7) / 2;
          if (combination++ % test::walk_step(11) != 0) continue;
          check(problem, {device_bytes, cache_bytes}, ratios);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  std::printf("%s\n", in_words(ratios).c_str());
  EXPECT_GT(ratios.served, ratios.schedules / 2);
}

TEST(MatmulSchedule, EveryBudgetOfSmallSquares) {
  Ratios ratios;
  for (std::uint64_t elements = 16; elements < 400; elements += 3) {
    for (const std::uint64_t n : {2, 3, 5, 17, 23, 31, 36, 47}) {
      check({n, n, 2 * n, 4, 4, 4}, {elements * 4, 0}, ratios);
      if (HasFatalFailure()) return;
    }
  }
  std::printf("%s\n", in_words(ratios).c_str());
}

TEST(MatmulSchedule, TheCacheServesUnlessPanelsAreTooLong) {
  Ratios ratios;
  const std::uint64_t elements = 10'007;
  for (const std::uint64_t times : {1, 3, 10, 40}) {
    const std::uint64_t cache = elements * times;
    for (const std::uint64_t inner :
         {std::uint64_t{1}, static_cast<std::uint64_t>(std::sqrt(as_double(cache))),
          static_cast<std::uint64_t>(2 * std::sqrt(as_double(cache)))}) {
      for (const std::uint64_t rows : {50, 333, 1001, 2503}) {
        for (const std::uint64_t columns : {50, 290, 1709, 2600}) {
          const std::uint64_t served = ratios.served;
          check(f4(rows, columns, inner), {elements * 4, cache * 4}, ratios);
          if (HasFatalFailure()) return;
          EXPECT_EQ(ratios.served, served + 1) << rows << " x " << columns << " x " << inner;
        }
      }
    }
  }
  // Panels may be of any length if one operand fits as a whole.
  check(f4(300, 500, 100'000), {elements * 4, 4 * 300 * 101'000}, ratios);
  EXPECT_EQ(ratios.served, ratios.schedules);
}

// --- choices -------------------------------------------------------------------------------------

TEST(MatmulSchedule, WhatFitsIsReadOnceWhileTheProductIsWritten) {
  for (const Rates& rates : {Rates{}, h200}) {
    for (const std::uint64_t n : {1000, 2048, 4099, 16'384}) {
      const Problem problem = f4(n, n + 5, n - 7);
      const Schedule schedule = make_schedule(problem, {64 * GiB, 0}, rates);
      Ratios ratios;
      check(problem, {64 * GiB, 0}, schedule, ratios);
      EXPECT_EQ(schedule.cost.read_bytes, 4 * problem.inner * (problem.rows + problem.columns));
      EXPECT_EQ(schedule.cost.link_in_bytes, schedule.cost.read_bytes);
      EXPECT_NE(schedule.tiling.resident, Resident::c);
      EXPECT_GT(schedule.tiling.row_tiles * schedule.tiling.column_tiles, 1u);
      EXPECT_EQ(schedule.tiling.c_buffers, 2u);
      EXPECT_EQ(schedule.tiling.cache_entries, 0u);
    }
  }
}

TEST(MatmulSchedule, TheSmallerOperandStays) {
  const Schedule tall = make_schedule(f4(10'000'000, 1000, 1000), {1 * GiB, 0}, {});
  EXPECT_EQ(tall.tiling.resident, Resident::b);
  const Schedule wide = make_schedule(f4(1000, 10'000'000, 1000), {1 * GiB, 0}, {});
  EXPECT_EQ(wide.tiling.resident, Resident::a);
  EXPECT_EQ(tall.cost.read_bytes, 4 * (10'000'000 + 1000) * 1000ull);
  EXPECT_EQ(tall.cost.read_bytes, wide.cost.read_bytes);
}

TEST(MatmulSchedule, TheGpuMultipliesNearlyAllTheTime) {
  const Schedule schedule = make_schedule(f4(32'768, 32'768, 32'768), {2 * GiB, 0}, h200);
  const Cost& cost = schedule.cost;
  const double least = std::max(cost.flops / h200.flops, as_double(cost.link_in_bytes) / h200.link);
  EXPECT_LE(cost.seconds, 1.2 * least);
}

/// For a GPU of four, which share what the memory of the host gives: low rows of tiles would wait
/// for the panels of B, high ones for their first panels.
TEST(MatmulSchedule, FewProductsWaitForTheFirstPanels) {
  const Rates shared{
      .read = 55e9, .link = 20e9, .write = 6e9, .flops = 53e12, .row_seconds = 2.5e-6};
  const Schedule schedule = make_schedule(f4(32'768, 32'768, 65'536), {120 * GiB, 0}, shared);
  EXPECT_LE(schedule.cost.seconds, 1.12 * schedule.cost.flops / shared.flops);
}

/// The workspace of a library takes part of the given memory, but the bound does not allow for it.
TEST(MatmulSchedule, TheBoundIsThatOfAllTheMemoryGiven) {
  for (const std::uint64_t given : {64 * KiB, 96 * KiB, 256 * KiB, 1 * MiB}) {
    for (const Problem& problem :
         {f4(300, 300, 300), f4(127, 255, 513), f4(512, 512, 64), f4(1009, 23, 17)}) {
      const Cost cost = make_schedule(problem, {given - 16 * KiB, 0, given}, h200).cost;
      EXPECT_LE(as_double(cost.link_in_bytes + cost.link_out_bytes),
                traffic_bound(problem, as_double(given)))
          << given << ": " << problem.rows << " " << problem.inner << " " << problem.columns;
    }
  }
}

TEST(MatmulSchedule, ATileOfCStaysWhereOperandsAreFarLarger) {
  const Schedule schedule = make_schedule(f4(131'072, 131'072, 131'072), {2 * GiB, 0}, h200);
  EXPECT_EQ(schedule.tiling.resident, Resident::c);
  EXPECT_LE(schedule.cost.seconds, 1.2 * schedule.cost.flops / h200.flops);
  EXPECT_LT(schedule.steps.size(), 20'000u);
}

TEST(MatmulSchedule, HostMemorySparesTheDisk) {
  const Problem problem = f4(131'072, 131'072, 131'072);
  const Rates disk{.read = 3e9, .link = 50e9, .write = 3e9, .flops = 54e12};
  const Schedule without = make_schedule(problem, {2 * GiB, 0}, disk);
  const Schedule with = make_schedule(problem, {2 * GiB, 60 * GiB}, disk);
  EXPECT_FALSE(without.cost.cache_serves);
  EXPECT_EQ(without.cost.read_bytes, without.cost.link_in_bytes);
  EXPECT_TRUE(with.cost.cache_serves);
  EXPECT_LT(3 * with.cost.read_bytes, without.cost.read_bytes);
  EXPECT_LT(2 * with.cost.seconds, without.cost.seconds);
}

TEST(MatmulSchedule, HugeOperandsTakeFewSteps) {
  const std::uint64_t huge = std::uint64_t{1} << 36;
  for (const Problem& problem : {f4(huge, 8, 8), f4(8, huge, 8), f4(8, 8, huge), f4(huge, 1, 1)}) {
    Ratios ratios;
    const Schedule schedule = make_schedule(problem, {2 * GiB, 8 * GiB}, h200);
    check(problem, {2 * GiB, 8 * GiB}, schedule, ratios);
    EXPECT_LT(schedule.steps.size(), 10'000u);
    EXPECT_EQ(schedule.cost.read_bytes, 4 * problem.inner * (problem.rows + problem.columns));
  }
}

// --- edges ---------------------------------------------------------------------------------------

TEST(MatmulSchedule, NothingToMultiplyTakesNoSteps) {
  for (const Problem& problem : {f4(0, 5, 7), f4(5, 0, 7), f4(5, 6, 0), f4(0, 0, 0)}) {
    const Schedule schedule = make_schedule(problem, {1 * MiB, 0}, {});
    EXPECT_TRUE(schedule.steps.empty());
    EXPECT_TRUE(schedule.loads.empty());
    EXPECT_EQ(schedule.cost.read_bytes, 0u);
    EXPECT_EQ(schedule.cost.link_in_bytes, 0u);
    EXPECT_EQ(schedule.cost.write_bytes, 4 * problem.rows * problem.columns);  // zeros
  }
}

TEST(MatmulSchedule, OneElementOfEachIsEnoughForOneProduct) {
  const Schedule schedule = make_schedule(f4(1, 1, 1), {12, 0}, {});
  ASSERT_EQ(schedule.steps.size(), 1u);
  EXPECT_EQ(schedule.cost.link_in_bytes, 8u);
  EXPECT_EQ(schedule.cost.device_bytes, 12u);
}

TEST(MatmulSchedule, TooLittleMemoryIsAnError) {
  const std::pair<Problem, std::uint64_t> too_small[] = {
      {f4(1, 1, 1), 11}, {f4(1, 1, 1), 0}, {f4(1'000'000, 1'000'000, 1'000'000), 64 * KiB}};
  for (const auto& [problem, device_bytes] : too_small) {
    try {
      make_schedule(problem, {device_bytes, 0}, {});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      EXPECT_NE(std::string(error.what()).find(std::to_string(device_bytes)), std::string::npos);
      EXPECT_EQ(advice(error.details()), "raise Options::device_bytes");
    }
  }
}

TEST(MatmulSchedule, TheBoundIsTheFormula) {
  // Once each: 2 * 4 * (3 * 7 + 7 * 5) + 15 * 4; more often: 2 * 4 * 2 * 105 / sqrt(4) + 60.
  EXPECT_DOUBLE_EQ(traffic_bound(f4(3, 5, 7), 1000), 508);
  EXPECT_DOUBLE_EQ(traffic_bound(f4(3, 5, 7), 16), 900);
  EXPECT_DOUBLE_EQ(traffic_bound({3, 5, 7, 2, 4, 4}, 16), 900);  // the widest type counts
}

}  // namespace
}  // namespace ooc::detail::product
