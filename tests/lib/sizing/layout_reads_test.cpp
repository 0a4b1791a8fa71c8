#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lib/sizing/layout_fixture.hpp"
#include "sizing/layout.hpp"
#include "support/child_process.hpp"

// Tests how a layout reads the disk: directly or not, with how many requests of which size.

namespace ooc {
namespace {

using test::LayoutTest;

TEST_F(LayoutTest, ReadsADiskThroughASmallPool) {
  const Layout layout =
      choose_layout({}, DeviceKind::cuda, workers_, sparse(1024 * GiB), {.bytes = 4});
  ASSERT_TRUE(layout.reads.direct) << layout.reasons.front();
  EXPECT_LE(layout.slots * layout.slot_bytes, 20 * MiB);
  EXPECT_GE(layout.reads.queue_depth * layout.reads.block_bytes, 4 * MiB);
  EXPECT_LE(layout.reads.queue_depth * layout.reads.block_bytes, layout.slots * layout.slot_bytes);
}

TEST_F(LayoutTest, ReadsADiskBesideFilesBelowAPage) {
  std::vector<File> files;
  files.push_back(sparse_file("small.bin", 8));
  files.push_back(sparse_file("large.bin", 8 * GiB));
  const Source source(std::move(files), {{0, 0, 8}, {1, 0, 8 * GiB}}, {ElementType::u1, false});
  const Layout layout = choose_layout({}, DeviceKind::cuda, workers_, source, {.bytes = 1});
  EXPECT_TRUE(layout.reads.direct) << layout.reasons.front();
  const Layout small = choose_layout({}, DeviceKind::cuda, workers_, sparse(8), {.bytes = 1});
  EXPECT_FALSE(small.reads.direct);
  EXPECT_NE(small.reasons.front().find("smaller than a page"), std::string::npos);
}

// An error of the disk must not be reported as an option that is not possible.
TEST_F(LayoutTest, BlamesTheDiskIfItKeepsDirectReadsFromWorking) {
  if (sparse_file("sparse.bin", MiB).direct() < 0) GTEST_SKIP() << "no direct I/O here";
  const auto refused_with = [&](int errno_value, ErrorKind kind) {
    test::expect_in_child([&] {
      test::refuse_system_call(SYS_pread64, errno_value);
      const Source source = sparse(MiB);
      if (choose_layout({}, DeviceKind::cpu, workers_, source, {.bytes = 1}).reads.direct)
        return false;
      try {
        choose_layout({.direct = DirectIo::yes}, DeviceKind::cpu, workers_, source, {.bytes = 1});
        return false;
      } catch (const Error& error) {
        return error.kind() == kind;
      }
    });
  };
  refused_with(EIO, ErrorKind::input);
  refused_with(EINVAL, ErrorKind::usage);
}

TEST_F(LayoutTest, LeavesRoomForMoreReadsOfALargeInput) {
  const Layout layout =
      choose_layout({}, DeviceKind::cuda, workers_, sparse(8 * GiB), {.bytes = 4});
  ASSERT_TRUE(layout.tuned_depth);
  EXPECT_LT(layout.tuned_depth->least, layout.reads.queue_depth);
  EXPECT_GT(layout.tuned_depth->most, layout.reads.queue_depth);
  EXPECT_GT(layout.most_slots, layout.slots);
  EXPECT_GE(layout.most_slots * layout.chunk_bytes,
            layout.tuned_depth->most * layout.reads.block_bytes);
}

TEST_F(LayoutTest, BeginsWithAsManyReadsAsWereBestBefore) {
  const Layout known_nothing =
      choose_layout({}, DeviceKind::cuda, workers_, sparse(8 * GiB), {.bytes = 4});
  const auto slots_of = [](const Layout& layout) {
    return divide_up(layout.reads.queue_depth * layout.reads.block_bytes, layout.chunk_bytes);
  };
  for (const std::size_t depth : {1u, 7u, 16u, 31u, 1000u}) {
    Layout layout = known_nothing;
    start_at_depth(layout, depth);
    EXPECT_EQ(layout.reads.queue_depth,
              std::clamp<std::size_t>(depth, layout.tuned_depth->least, layout.tuned_depth->most));
    EXPECT_EQ(layout.tuned_depth->first, known_nothing.reads.queue_depth);
    EXPECT_EQ(layout.slots - slots_of(layout), known_nothing.slots - slots_of(known_nothing));
    EXPECT_LE(layout.slots, layout.most_slots);
  }
}

TEST_F(LayoutTest, ReadsOfADiskGoRoundInLittleMoreThanIsInFlight) {
  const auto beyond_flight = [&](const Options& options) {
    const Layout layout =
        choose_layout(options, DeviceKind::cuda, workers_, sparse(8 * GiB), {.bytes = 4});
    return layout.slots -
           divide_up(layout.reads.queue_depth * layout.reads.block_bytes, layout.chunk_bytes);
  };
  EXPECT_EQ(beyond_flight({}), workers_.lanes + 1);
  EXPECT_GT(beyond_flight({.direct = DirectIo::no}), workers_.lanes + 1);
}

// Applies where io_uring is missing: with fewer threads than reads the disk would not be kept busy.
TEST_F(LayoutTest, HasAThreadForEachReadOfADiskInFlight) {
  const auto threads_of = [&](const Options& options) {
    const IoConfig& reads =
        choose_layout(options, DeviceKind::cuda, workers_, sparse(8 * GiB), {.bytes = 4}).reads;
    EXPECT_LE(reads.threads, reads.queue_depth);
    return reads.threads;
  };
  EXPECT_EQ(threads_of({}), 16u);
  EXPECT_EQ(threads_of({.queue_depth = 3}), 3u);
  EXPECT_EQ(threads_of({.threads = 4}), workers_.readers);
  EXPECT_EQ(threads_of({.direct = DirectIo::no}), workers_.readers);
}

TEST_F(LayoutTest, RefusesDirectReadsOfManySmallFiles) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 100; ++i) {
    paths.push_back(dir_.write(std::to_string(i), std::string(2 * page_bytes, 'x')));
  }
  const Source source = open(paths);
  const auto layout_with = [&](DirectIo direct) {
    return choose_layout({.direct = direct}, DeviceKind::cuda, workers_, source, {.bytes = 1});
  };
  EXPECT_FALSE(layout_with(DirectIo::automatic).reads.direct);
  try {
    layout_with(DirectIo::yes);
    ADD_FAILURE() << "direct reads were not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    const bool is_possible = source.files()[0].direct() >= 0;
    EXPECT_EQ(std::string(error.what()).ends_with("lies in 100 pieces"), is_possible);
  }
}

TEST_F(LayoutTest, KeepsToTheReadsThatTheUserHasFixed) {
  const auto is_fixed = [&](const Options& options, std::uint64_t bytes) {
    const Layout layout =
        choose_layout(options, DeviceKind::cuda, workers_, sparse(bytes), {.bytes = 4});
    return !layout.tuned_depth && layout.most_slots == layout.slots;
  };
  EXPECT_FALSE(is_fixed({}, 8 * GiB));
  EXPECT_TRUE(is_fixed({}, 512 * MiB));  // too short to tune
  EXPECT_TRUE(is_fixed({.block_bytes = MiB}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.queue_depth = 24}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.memory_bytes = 20 * MiB}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.threads = 4, .engine = EngineKind::threads}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.direct = DirectIo::no}, 8 * GiB));
}

TEST_F(LayoutTest, FillsTheLinkFromThePageCache) {
  const Layout layout = choose_layout({.direct = DirectIo::no}, DeviceKind::cuda, workers_,
                                      sparse(8 * GiB), {.bytes = 4});
  EXPECT_EQ(layout.reads.engine, EngineKind::threads);
  EXPECT_GE(layout.chunk_bytes, 8 * MiB);
}

TEST_F(LayoutTest, TunesTheReadsIfTheLimitHasJustRoomForIt) {
  const auto layout_within = [&](std::size_t memory_bytes) {
    return choose_layout({.chunk_bytes = MiB, .memory_bytes = memory_bytes}, DeviceKind::cuda,
                         workers_, sparse(8 * GiB), {.bytes = 1});
  };
  const Layout ample = layout_within(GiB);
  ASSERT_TRUE(ample.tuned_depth);
  const std::size_t needed = ample.most_slots * ample.slot_bytes;
  EXPECT_TRUE(layout_within(needed).tuned_depth);
  EXPECT_EQ(layout_within(needed).most_slots, ample.most_slots);
  EXPECT_FALSE(layout_within(needed - 1).tuned_depth);
}

TEST_F(LayoutTest, LargeBlocksLeaveRequestsToStart) {
  const Layout layout = choose_layout({.chunk_bytes = 64 * MiB, .block_bytes = 64 * MiB},
                                      DeviceKind::cpu, workers_, sparse(1 * GiB), {.bytes = 1});
  EXPECT_GE(layout.reads.queue_depth, 1u);
}

}  // namespace
}  // namespace ooc
