// Products that several devices or ranks share, and that go on where an earlier run was stopped.

#include <ooc/detail/parts/part_file.hpp>
#include <ooc/error.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <stop_token>
#include <thread>

#include "kernels/matmul/shared_product_fixture.hpp"

namespace ooc::detail {
namespace {

using test::LocalRanks;

using SharedProductResume = test::SharedProduct;

/// Goes on with other numbers of ranks and devices each time, until no run is stopped.
TEST_F(SharedProductResume, GoesOnWithAnyNumberOfRanks) {
  const Source a = matrix("a.f32", 1000, 290), b = matrix("b.f32", 290, 2048);
  const std::string one = expected(a, b);
  std::size_t runs = 0;
  std::uint64_t written = 0;
  for (bool is_done = false; !is_done; ++runs) {
    ASSERT_LT(runs, 100u);
    const std::size_t size = std::array{4, 2, 3, 1, 5}[runs % 5];
    std::atomic<std::size_t> writes{0};
    std::stop_source stop;
    std::atomic<bool> is_stopped{false};
    std::atomic<std::uint64_t> resumed{0};
    const auto errors = LocalRanks(size).run([&](Ranks& ranks) {
      Coordinator coordinator(cpus(1 + runs % 2), limited(&ranks));
      PassOptions wanted{.checkpoint = {.file = saved_, .every_seconds = 0}};
      wanted.stop = stop.get_token();
      wanted.observe = [&](const TraceEvent& event) {
        if (event.kind == TraceEvent::Kind::write && ++writes == 30) stop.request_stop();
      };
      wanted.progress = [&](const Progress& progress) { resumed = progress.resumed_bytes; };
      try {
        const auto [product, stats] = matmul(coordinator, a, b, target(), {}, wanted);
        if (ranks.is_first()) written += product.bytes_written;
      } catch (const Error& error) {
        is_stopped = true;
        EXPECT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
      }
    });
    is_done = !is_stopped;
    EXPECT_EQ(resumed != 0, runs != 0);
    if (is_done) {
      expect_none(errors);
      continue;
    }
    EXPECT_EQ(made_dir_.names().size(), 1u);
    EXPECT_TRUE(made_dir_.names().front().ends_with(".ooc-part"));
  }
  EXPECT_GT(runs, 3u);
  EXPECT_LT(written, one.size());  // by the last run
  EXPECT_TRUE(made() == one);
}

/// Options of a rank that saves after each tile.
PassOptions often(const std::filesystem::path& directory) {
  return {.checkpoint = {.file = directory, .every_seconds = 0}};
}

// Rank 0 has no tile yet when rank 1 has saved some. Its file must not let a new output be made.
TEST_F(SharedProductResume, DoesNotGoOnWithoutItsOutput) {
  const Source a = matrix("a.f32", 1000, 290), b = matrix("b.f32", 290, 2048);
  for (const bool is_cut : {false, true}) {
    std::stop_source stop;
    std::atomic<bool> is_stopped{false};
    LocalRanks(2).run([&](Ranks& ranks) {
      Coordinator coordinator(cpus(1), limited(&ranks));
      PassOptions wanted = often(saved_);
      wanted.stop = stop.get_token();
      std::atomic<std::size_t> writes{0};
      wanted.observe = [&](const TraceEvent& event) {
        if (ranks.is_first()) {
          while (event.kind == TraceEvent::Kind::read && !is_stopped) std::this_thread::yield();
        } else if (event.kind == TraceEvent::Kind::write && ++writes == 8) {
          stop.request_stop();
          is_stopped = true;
        }
      };
      matmul(coordinator, a, b, target(), {}, wanted);
    });
    EXPECT_TRUE(read_part_file(saved_ / "rank-0.part").covers.empty());
    ASSERT_FALSE(read_part_file(saved_ / "rank-1.part").covers.empty());
    ASSERT_EQ(made_dir_.names().size(), 1u);
    const std::filesystem::path output = made_ / made_dir_.names().front();
    if (is_cut) {
      std::filesystem::resize_file(output, 4096);
    } else {
      std::filesystem::remove(output);
    }
    const auto errors = LocalRanks(2).run([&](Ranks& ranks) {
      Coordinator coordinator(cpus(1), limited(&ranks));
      matmul(coordinator, a, b, target(), {}, often(saved_));
    });
    for (const auto& error : errors) EXPECT_EQ(test::described(error).first, ErrorKind::output);
    EXPECT_FALSE(std::filesystem::exists(target().path));
    std::filesystem::remove(output);
    for (const std::string& name : saved_dir_.names()) std::filesystem::remove(saved_ / name);
  }
}

TEST_F(SharedProductResume, GoesOnWithAnyNumberOfDevices) {
  const Source a = matrix("a.f32", 1000, 290), b = matrix("b.f32", 290, 2048);
  const std::string one = expected(a, b);
  const std::filesystem::path path = saved_ / "job.part";
  std::size_t runs = 0;
  for (bool is_done = false; !is_done; ++runs) {
    ASSERT_LT(runs, 100u);
    Coordinator team(cpus(std::array{3, 1, 2}[runs % 3]), limited());
    std::stop_source stop;
    std::atomic<std::size_t> writes{0};
    PassOptions wanted{.stop = stop.get_token(), .checkpoint = {.file = path, .every_seconds = 0}};
    wanted.observe = [&](const TraceEvent& event) {
      if (event.kind == TraceEvent::Kind::write && ++writes == 30) stop.request_stop();
    };
    try {
      matmul(team, a, b, target(), {}, wanted);
      is_done = true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
      EXPECT_NE(std::string(error.what()).find(" % of C"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(runs, 3u);
  EXPECT_TRUE(made() == one);
  EXPECT_EQ(read_part_file(path).covers, (std::vector<RecordRange>{{0, 1000 * 2048}}));
}

TEST_F(SharedProductResume, OfRanksThatIsInPlaceStaysThere) {
  const Source a = matrix("a.f32", 100, 90), b = matrix("b.f32", 90, 2048);
  const auto run = [&](std::size_t size, std::uint64_t expected_bytes) {
    expect_none(LocalRanks(size).run([&](Ranks& ranks) {
      Coordinator coordinator(cpus(1), limited(&ranks));
      const auto [product, stats] =
          matmul(coordinator, a, b, target(), {}, {.checkpoint = {.file = saved_}});
      EXPECT_EQ(product.bytes_written, expected_bytes);
    }));
  };
  run(3, 100 * 2048 * sizeof(float));
  const auto written = std::filesystem::last_write_time(target().path);
  run(2, 0);
  EXPECT_EQ(std::filesystem::last_write_time(target().path), written);
  EXPECT_TRUE(made() == expected(a, b));
}

}  // namespace
}  // namespace ooc::detail
