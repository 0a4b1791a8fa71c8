// Products that go on where an earlier run was stopped.

#include "matmul/product_checkpoint.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/matmul.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "io/expect_error.hpp"
#include "support/child_process.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/matrices.hpp"
#include "support/temp_dir.hpp"
#include "support/watched_calls.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

constexpr std::uint64_t rows = 330, inner = 290, columns = 310;

class ProductCheckpointTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    std::filesystem::create_directory(made_);
  }

  Source matrix(const std::string& name, std::uint64_t of_rows, std::uint64_t of_columns) {
    // Integers, whose sums are exact: a library may round in other ways with more memory.
    const auto values = test::random_integers<float>(of_rows, of_columns, 1).values;
    const auto path = dir_.path() / name;
    test::write_file(path, values);
    Source source = open(path, {.type = DType{ElementType::f4}});
    source.set_shape({of_rows, of_columns});
    return source;
  }

  static Coordinator machine(std::size_t device_bytes = 96 * KiB) {
    return Coordinator(make_device(GetParam()),
                       {.memory_bytes = 64 * MiB, .device_bytes = device_bytes});
  }

  Target target() const { return {.path = made_ / "c.npy", .type = DType{ElementType::f4, true}}; }

  PassOptions often() const { return {.checkpoint = {.file = path_, .every_seconds = 0}}; }

  /// Multiplies, and is stopped after a number of writes. True if it was.
  bool is_stopped_after(std::size_t writes, Coordinator& coordinator) {
    std::stop_source stop;
    std::atomic<std::size_t> written{0};
    PassOptions wanted = often();
    wanted.stop = stop.get_token();
    wanted.observe = [&](const TraceEvent& event) {
      if (event.kind == TraceEvent::Kind::write && ++written == writes) stop.request_stop();
    };
    try {
      matmul(coordinator, a_, b_, target(), {}, wanted);
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
      EXPECT_NE(std::string(error.what()).find(" % of C"), std::string::npos) << error.what();
      EXPECT_FALSE(std::filesystem::exists(target().path));
      return true;
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(made_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::string expected() {
    Coordinator coordinator = machine();
    Target other = target();
    other.path = dir_.path() / "expected.npy";
    matmul(coordinator, a_, b_, other);
    return test::read_whole(other.path);
  }

  test::TempDir dir_;
  std::filesystem::path made_ = dir_.path() / "made", path_ = dir_.path() / "job.part";
  Source a_ = matrix("a.f32", rows, inner), b_ = matrix("b.f32", inner, columns);
};

INSTANTIATE_TEST_SUITE_P(Devices, ProductCheckpointTest, test::all_devices, test::device_name);

TEST_P(ProductCheckpointTest, GoesOnAfterStops) {
  Coordinator coordinator = machine();
  std::size_t stops = 0;
  while (is_stopped_after(3 + stops, coordinator)) {
    ASSERT_LT(++stops, 100u);
    EXPECT_EQ(names().size(), 1u);
    EXPECT_TRUE(names().front().ends_with(".ooc-part"));
  }
  EXPECT_GT(stops, 2u);
  EXPECT_EQ(names(), std::vector<std::string>{"c.npy"});
  EXPECT_TRUE(test::read_whole(target().path) == expected());
  // The product is complete.
  const auto written = std::filesystem::last_write_time(target().path);
  const auto [product, stats] = matmul(coordinator, a_, b_, target(), {}, often());
  EXPECT_EQ(product.bytes_read, 0u);
  EXPECT_EQ(std::filesystem::last_write_time(target().path), written);
  EXPECT_EQ(names(), std::vector<std::string>{"c.npy"});
}

TEST_P(ProductCheckpointTest, ARunWithoutAStopIsSavedAtTheEnd) {
  Coordinator coordinator = machine();
  const auto [product, stats] =
      matmul(coordinator, a_, b_, target(), {}, {.checkpoint = {.file = path_}});
  EXPECT_EQ(stats.outcome.checkpoints, 1u);
  EXPECT_TRUE(test::read_whole(target().path) == expected());
  EXPECT_EQ(names(), std::vector<std::string>{"c.npy"});
}

TEST_P(ProductCheckpointTest, GoesOnWithTheSameTiles) {
  Coordinator first = machine();
  ASSERT_TRUE(is_stopped_after(5, first));
  // More memory would allow larger tiles.
  Coordinator more = machine(1 * GiB);
  const MatmulPlan other = dry_run_matmul(more, a_, b_);
  const auto [product, stats] = matmul(more, a_, b_, target(), {}, often());
  EXPECT_NE(product.plan.tile_rows * product.plan.tile_columns,
            other.tile_rows * other.tile_columns);
  EXPECT_LT(stats.outcome.bytes_written, rows * columns * sizeof(float));
  EXPECT_TRUE(test::read_whole(target().path) == expected());
}

// The tile after it may take long.
TEST(ProductCheckpoint, SavesATileWhenItIsTimeAndNotOnlyWithTheNext) {
  const test::TempDir dir;
  const auto zeros = [&](const std::string& name) {
    test::write_file(dir.path() / name, std::vector<float>(4));
    Source source = open(dir.path() / name, {.type = DType{ElementType::f4}});
    source.set_shape({2, 2});
    return source;
  };
  const Source a = zeros("a"), b = zeros("b");
  const Target target{dir.path() / "c", {ElementType::f4}, {2, 2}};
  product::ProductCheckpoint checkpoint({.file = dir.path() / "job.part", .every_seconds = 0.02},
                                        nullptr, a, b, target, Precision::f32);
  const std::array sources{&a, &b};
  const MadeRecords made{sizeof(float), target.type, {}};
  OutputFiles files(4, {&target, 1}, {&made, 1}, sources, Purpose::write, checkpoint.outputs());
  Stats stats;
  checkpoint.begin(product::cut_into_blocks(2, 2, sizeof(float), 1), files, stats);
  product::Schedule schedule;
  schedule.tiling = {.tile_rows = 1,
                     .tile_columns = 2,
                     .tile_inner = 2,
                     .row_tiles = 2,
                     .column_tiles = 1,
                     .inner_tiles = 1,
                     .a_buffers = 1,
                     .b_buffers = 1,
                     .c_buffers = 1};
  checkpoint.start(0, schedule);
  for (int i = 0; i < 1000 && stats.outcome.checkpoints == 0; ++i) {
    checkpoint.note(0, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(stats.outcome.checkpoints, 1u);
  EXPECT_EQ(read_part_file(dir.path() / "job.part").covers, (std::vector<RecordRange>{{0, 2}}));
}

/// In a child process, which cannot use a GPU.
using ProductOnDiskTest = ProductCheckpointTest;
INSTANTIATE_TEST_SUITE_P(Devices, ProductOnDiskTest, testing::Values(DeviceKind::cpu),
                         test::device_name);

TEST_P(ProductOnDiskTest, SaysOnlyOfTilesThatAreThere) {
  test::expect_in_child([&] {
    // Only the second call fails: the kernel tells of a lost write once.
    auto calls = std::make_shared<std::atomic<int>>(0);
    test::watch_system_call(SYS_fdatasync,
                            [calls](const __u64*) { return ++*calls == 2 ? EIO : 0; });
    Coordinator coordinator = machine();
    try {
      matmul(coordinator, a_, b_, target(), {}, often());
    } catch (const Error& error) {
      return error.kind() == ErrorKind::output && error.details().errno_value == EIO &&
             error.details().why.find(" have 0 % of C") != std::string::npos;
    }
    return false;
  });
  EXPECT_TRUE(read_part_file(path_).covers.empty());
  Coordinator coordinator = machine();
  matmul(coordinator, a_, b_, target(), {}, often());
  EXPECT_TRUE(test::read_whole(target().path) == expected());
}

TEST_P(ProductCheckpointTest, RefusesTilesThatDoNotFit) {
  Coordinator first = machine(512 * KiB);
  ASSERT_TRUE(is_stopped_after(2, first));
  Coordinator less = machine(16 * KiB);
  std::size_t enough = 0;  // says the error
  try {
    matmul(less, a_, b_, target(), {}, often());
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::memory);
    enough = std::stoul(error.details().remedies.at(0).value);
  }
  EXPECT_EQ(names().size(), 1u);
  Coordinator more = machine(enough);
  matmul(more, a_, b_, target(), {}, often());
}

TEST_P(ProductCheckpointTest, RefusesAnotherProduct) {
  Coordinator coordinator = machine();
  ASSERT_TRUE(is_stopped_after(5, coordinator));
  const auto refuse = [&](ErrorKind kind, const std::string& what, const Source& a,
                          const Target& to) {
    expect_error(kind, what, [&] { matmul(coordinator, a, b_, to, {}, often()); });
  };
  Target other = target();
  other.path = made_ / "d.npy";
  refuse(ErrorKind::usage, "is of another job", a_, other);
  refuse(ErrorKind::input_changed, "is of the data as they were", matrix("a.f32", rows, inner),
         target());
  refuse(ErrorKind::input_changed, "is of the data as they were",
         matrix("other.f32", rows / 2, inner), target());
}

}  // namespace
}  // namespace ooc::detail
