#include "layout.hpp"

#include <ooc/io/error.hpp>
#include <ooc/io/residency.hpp>
#include <ooc/io/units.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

class LayoutTest : public testing::Test {
 protected:
  /// A file with nothing in it; its holes are in no cache, so it is read directly.
  File sparse_file(const char* name, std::uint64_t bytes) {
    const auto path = dir_.path() / name;
    std::ofstream{path};
    std::filesystem::resize_file(path, bytes);
    return File::open(path);
  }
  Source sparse(std::uint64_t bytes, std::uint64_t offset = 0) {
    std::vector<File> files;
    files.push_back(sparse_file("sparse.bin", offset + bytes));
    return Source(std::move(files), {{0, offset, bytes}}, {ElementType::u1, false});
  }

  test::TempDir dir_;
  Workers workers_{.lanes = 2, .reading_lanes = 6, .readers = 4, .writers = 2};
};

TEST_F(LayoutTest, ReadsADiskThroughASmallPool) {
  const Layout layout = choose_layout({}, DeviceKind::cuda, workers_, sparse(1024 * GiB), 4);
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
  const Layout layout = choose_layout({}, DeviceKind::cuda, workers_, source, 1);
  EXPECT_TRUE(layout.reads.direct) << layout.reasons.front();
  const Layout small = choose_layout({}, DeviceKind::cuda, workers_, sparse(8), 1);
  EXPECT_FALSE(small.reads.direct);
  EXPECT_NE(small.reasons.front().find("smaller than a page"), std::string::npos);
}

// What the user is told must not be that he asks for the impossible.
TEST_F(LayoutTest, BlamesTheDiskIfItKeepsDirectReadsFromWorking) {
  if (sparse_file("sparse.bin", MiB).direct() < 0) GTEST_SKIP() << "no direct I/O here";
  const auto refused_with = [&](int errno_value, ErrorKind kind) {
    test::expect_in_child([&] {
      test::refuse_system_call(SYS_pread64, errno_value);
      const Source source = sparse(MiB);
      if (choose_layout({}, DeviceKind::cpu, workers_, source, 1).reads.direct) return false;
      try {
        choose_layout({.direct = DirectIo::yes}, DeviceKind::cpu, workers_, source, 1);
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
  const Layout layout = choose_layout({}, DeviceKind::cuda, workers_, sparse(8 * GiB), 4);
  ASSERT_TRUE(layout.tuned_depth);
  EXPECT_LT(layout.tuned_depth->least, layout.reads.queue_depth);
  EXPECT_GT(layout.tuned_depth->most, layout.reads.queue_depth);
  EXPECT_GT(layout.pool_slots, layout.slots);
  EXPECT_GE(layout.pool_slots * layout.chunk_bytes,
            layout.tuned_depth->most * layout.reads.block_bytes);
}

TEST_F(LayoutTest, BeginsWithAsManyReadsAsWereBestBefore) {
  const Layout known_nothing = choose_layout({}, DeviceKind::cuda, workers_, sparse(8 * GiB), 4);
  const auto slots_of = [](const Layout& layout) {
    return divide_up(layout.reads.queue_depth * layout.reads.block_bytes, layout.chunk_bytes);
  };
  for (const std::size_t depth : {1u, 7u, 16u, 31u, 1000u}) {
    Layout layout = known_nothing;
    begin_with_depth(layout, depth);
    EXPECT_EQ(layout.reads.queue_depth,
              std::clamp<std::size_t>(depth, layout.tuned_depth->least, layout.tuned_depth->most));
    EXPECT_EQ(layout.tuned_depth->first, known_nothing.reads.queue_depth);
    EXPECT_EQ(layout.slots - slots_of(layout), known_nothing.slots - slots_of(known_nothing));
    EXPECT_LE(layout.slots, layout.pool_slots);
  }
}

TEST_F(LayoutTest, ReadsOfADiskGoRoundInLittleMoreThanIsInFlight) {
  const auto beyond_flight = [&](const Options& options) {
    const Layout layout = choose_layout(options, DeviceKind::cuda, workers_, sparse(8 * GiB), 4);
    return layout.slots -
           divide_up(layout.reads.queue_depth * layout.reads.block_bytes, layout.chunk_bytes);
  };
  EXPECT_EQ(beyond_flight({}), workers_.lanes + 1);
  EXPECT_GT(beyond_flight({.direct = DirectIo::no}), workers_.lanes + 1);
}

// Where there is no io_uring: one that is missing leaves the disk without work.
TEST_F(LayoutTest, HasAThreadForEachReadOfADiskInFlight) {
  const auto threads_of = [&](const Options& options) {
    const IoConfig& reads =
        choose_layout(options, DeviceKind::cuda, workers_, sparse(8 * GiB), 4).reads;
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
    return choose_layout({.direct = direct}, DeviceKind::cuda, workers_, source, 1);
  };
  EXPECT_FALSE(layout_with(DirectIo::automatic).reads.direct);
  try {
    layout_with(DirectIo::yes);
    ADD_FAILURE() << "what was asked for was not done";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    const bool is_possible = source.files()[0].direct() >= 0;
    EXPECT_EQ(std::string(error.what()).ends_with("lies in 100 pieces"), is_possible);
  }
}

TEST_F(LayoutTest, KeepsToTheReadsThatTheUserHasFixed) {
  const auto is_fixed = [&](const Options& options, std::uint64_t bytes) {
    const Layout layout = choose_layout(options, DeviceKind::cuda, workers_, sparse(bytes), 4);
    return !layout.tuned_depth && layout.pool_slots == layout.slots;
  };
  EXPECT_FALSE(is_fixed({}, 8 * GiB));
  EXPECT_TRUE(is_fixed({}, 512 * MiB));  // over before there is anything to find out
  EXPECT_TRUE(is_fixed({.block_bytes = MiB}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.queue_depth = 24}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.memory_bytes = 20 * MiB}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.threads = 4, .engine = EngineKind::threads}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.direct = DirectIo::no}, 8 * GiB));
}

TEST_F(LayoutTest, OneThreadReadsWhatItComputes) {
  const Workers one = choose_workers({.threads = 1}, DeviceKind::cpu);
  const Source source = sparse(8 * GiB);
  const Layout alone = choose_layout({.threads = 1}, DeviceKind::cpu, one, source, 1);
  EXPECT_TRUE(alone.lanes_read);
  EXPECT_EQ(alone.lanes, 1u);
  EXPECT_FALSE(alone.reads.direct);
  EXPECT_FALSE(alone.tuned_depth);
  EXPECT_NE(alone.reasons.front().find("reads ahead"), std::string::npos);
  const Layout direct =
      choose_layout({.threads = 1, .direct = DirectIo::yes}, DeviceKind::cpu, one, source, 1);
  EXPECT_TRUE(direct.lanes_read);
  EXPECT_TRUE(direct.reads.direct);
  EXPECT_FALSE(direct.tuned_depth);
  const Options four_streams{.streams = 4, .threads = 1};
  const Workers four = choose_workers(four_streams, DeviceKind::cpu);
  EXPECT_FALSE(choose_layout(four_streams, DeviceKind::cpu, four, source, 1).lanes_read);
  const Workers two = choose_workers({.threads = 2}, DeviceKind::cpu);
  EXPECT_FALSE(choose_layout({.threads = 2}, DeviceKind::cpu, two, source, 1).lanes_read);
}

TEST_F(LayoutTest, FillsTheLinkFromThePageCache) {
  const Layout layout =
      choose_layout({.direct = DirectIo::no}, DeviceKind::cuda, workers_, sparse(8 * GiB), 4);
  EXPECT_EQ(layout.reads.engine, EngineKind::threads);
  EXPECT_GE(layout.chunk_bytes, 8 * MiB);
}

TEST_F(LayoutTest, CutsChunksInWholeTiles) {
  for (const std::size_t element_bytes : {1u, 2u, 4u, 8u}) {
    for (const std::size_t chunk : {std::size_t{1}, 300'000 * std::size_t{1}, 5 * MiB}) {
      const Layout layout = choose_layout({.chunk_bytes = chunk}, DeviceKind::cpu, workers_,
                                          sparse(64 * MiB), element_bytes);
      EXPECT_EQ(layout.chunk_bytes % (tile_elements * element_bytes), 0u);
      EXPECT_GE(layout.chunk_bytes, chunk);
    }
  }
}

TEST_F(LayoutTest, NeedsNoMoreSlotsThanThereAreChunks) {
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(1 * MiB), 1).slots, 2u);
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(100), 1).slots, 1u);
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(0), 1).slots, 1u);
}

TEST_F(LayoutTest, KeepsToTheLimits) {
  for (const std::size_t limit : {512 * KiB, 2 * MiB, 8 * MiB, 64 * MiB}) {
    const Layout layout =
        choose_layout({.memory_bytes = limit}, DeviceKind::cuda, workers_, sparse(8 * GiB), 1);
    EXPECT_LE(layout.slots * layout.slot_bytes, limit);
    EXPECT_GE(layout.slots, 2u);
    EXPECT_LE(layout.reads.queue_depth * layout.reads.block_bytes, limit);
    EXPECT_LE(layout.reads.threads, layout.reads.queue_depth);
    const Layout small =
        choose_layout({.device_bytes = limit}, DeviceKind::cuda, workers_, sparse(8 * GiB), 1);
    // Two buffers a lane, and as much again for what operators keep.
    EXPECT_LE(4 * workers_.lanes * small.chunk_bytes, limit);
  }
}

TEST_F(LayoutTest, TunesTheReadsIfTheLimitHasJustRoomForIt) {
  const auto layout_within = [&](std::size_t memory_bytes) {
    return choose_layout({.chunk_bytes = MiB, .memory_bytes = memory_bytes}, DeviceKind::cuda,
                         workers_, sparse(8 * GiB), 1);
  };
  const Layout ample = layout_within(GiB);
  ASSERT_TRUE(ample.tuned_depth);
  const std::size_t needed = ample.pool_slots * ample.slot_bytes;
  EXPECT_TRUE(layout_within(needed).tuned_depth);
  EXPECT_EQ(layout_within(needed).pool_slots, ample.pool_slots);
  EXPECT_FALSE(layout_within(needed - 1).tuned_depth);
}

TEST_F(LayoutTest, CountsTheMemoryOfGatheringLanes) {
  const Options options{.chunk_bytes = 1 * MiB, .memory_bytes = 4 * MiB};
  const Layout aligned = choose_layout(options, DeviceKind::cpu, workers_, sparse(8 * GiB, 4), 4);
  const Layout odd = choose_layout(options, DeviceKind::cpu, workers_, sparse(8 * GiB, 3), 4);
  EXPECT_FALSE(aligned.gathers);
  EXPECT_TRUE(odd.gathers);
  EXPECT_LE(odd.slots * odd.slot_bytes + workers_.lanes * odd.chunk_bytes, 4 * MiB);
}

TEST_F(LayoutTest, HasAsManyLanesThatLoadTheirOwnChunksAsThereIsRoomFor) {
  const auto path = dir_.write("data.bin", test::random_bytes(2 * MiB + 1, 1));
  const test::HeldInPageCache held(path);
  if (page_cache_fraction(Source{File::open(path)}).value_or(0) < 0.9) {
    GTEST_SKIP() << "the kernel does not tell";
  }
  for (const std::uint64_t offset : {0u, 1u}) {  // where the second is gathered
    std::vector<File> files;
    files.push_back(File::open(path));
    const Source source(std::move(files), {{0, offset, 2 * MiB}}, {ElementType::u1, false});
    const auto lanes = [&](std::size_t memory_bytes) {
      const Layout layout = choose_layout({.chunk_bytes = 256 * KiB, .memory_bytes = memory_bytes},
                                          DeviceKind::cpu, workers_, source, 4);
      EXPECT_TRUE(layout.lanes_read);
      EXPECT_EQ(layout.gathers, offset != 0);
      EXPECT_EQ(layout.slots, layout.lanes);
      EXPECT_LE(layout.lanes * (layout.slot_bytes + (layout.gathers ? 256 * KiB : 0)),
                memory_bytes);
      return layout.lanes;
    };
    EXPECT_EQ(lanes(16 * MiB), workers_.reading_lanes);
    EXPECT_EQ(lanes(1 * MiB + 512 * KiB), offset == 0 ? 5u : 2u);
    EXPECT_EQ(lanes(600 * KiB), offset == 0 ? 2u : 1u);
    EXPECT_THROW(lanes(200 * KiB), Error);
    // All of it is one chunk then.
    const Layout one = choose_layout({.chunk_bytes = 4 * MiB, .memory_bytes = 8 * MiB},
                                     DeviceKind::cpu, workers_, source, 4);
    EXPECT_EQ(one.slots, 1u);
    EXPECT_EQ(one.lanes, offset == 0 ? workers_.reading_lanes : 1u);
  }
}

TEST_F(LayoutTest, CutsTheOutputWhereItCutsTheInput) {
  for (const char* name : {"out.npy", "out.u8"}) {
    for (const std::uint64_t elements : {std::uint64_t{1}, std::uint64_t{1'000'003}}) {
      TargetFile file({.path = dir_.path() / name, .type = {ElementType::f8}}, elements, {});
      const Output output{file, 8, false};
      const Layout layout =
          choose_layout({}, DeviceKind::cpu, workers_, sparse(elements), 1, &output);
      const SequentialPlan& writes = layout.writes->plan;
      ASSERT_EQ(writes.size(), layout.plan.size());
      std::vector<Extent> storage(writes.max_extents());
      for (std::size_t i = 0; i < writes.size(); ++i) {
        EXPECT_EQ(writes.bytes(i), 8 * layout.plan.bytes(i));
        const Extent expected{0, file.data_offset() + 8 * layout.plan.begin(i), writes.bytes(i)};
        const auto extents = writes.extents(i, storage);
        ASSERT_EQ(extents.size(), 1u);
        EXPECT_EQ(extents.front(), expected);
      }
    }
  }
}

TEST_F(LayoutTest, FindsRoomInASlotForInputAndOutput) {
  constexpr std::uint64_t elements = 10 * MiB;
  struct Width {
    std::size_t in, out;
  };
  for (const auto& [in, out] : {Width{1, 8}, Width{8, 1}, Width{4, 4}}) {
    TargetFile file({.path = dir_.path() / "out", .type = {ElementType::u1}}, elements * out, {});
    const Output output{file, out, false};
    const Source source = sparse(elements * in);
    const Layout cpu = choose_layout({}, DeviceKind::cpu, workers_, source, in, &output);
    const std::size_t result = cpu.chunk_bytes / in * out;
    EXPECT_EQ(cpu.writes->config.chunk_bytes, result);
    EXPECT_GE(cpu.writes->place, cpu.chunk_bytes);
    EXPECT_EQ(cpu.writes->place % page_bytes, 0u);
    EXPECT_GE(cpu.slot_bytes, cpu.writes->place + result);
    // A GPU's result takes the place of the input, which has left.
    const Layout cuda = choose_layout({}, DeviceKind::cuda, workers_, source, in, &output);
    EXPECT_EQ(cuda.writes->place, 0u);
    EXPECT_GE(cuda.slot_bytes, std::max(cuda.chunk_bytes, cuda.chunk_bytes / in * out));
    // The wider of the two has the size that fits the device.
    const Layout fold = choose_layout({}, DeviceKind::cuda, workers_, source, in);
    EXPECT_LE(std::max(cuda.chunk_bytes, cuda.writes->config.chunk_bytes), fold.chunk_bytes);
  }
}

TEST_F(LayoutTest, KeepsToTheLimitsWithAnOutput) {
  constexpr std::uint64_t elements = 64 * MiB;
  TargetFile file({.path = dir_.path() / "out", .type = {ElementType::f4}}, elements, {});
  const Output output{file, 4, false};
  for (const std::size_t limit : {4 * MiB, 8 * MiB, 64 * MiB}) {
    for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
      const Layout layout = choose_layout({.memory_bytes = limit, .device_bytes = limit}, device,
                                          workers_, sparse(elements), 1, &output);
      EXPECT_LE(layout.slots * layout.slot_bytes, limit);
      EXPECT_GE(layout.slots, 2u);
      const std::size_t buffers = 4 * (layout.chunk_bytes + layout.writes->config.chunk_bytes);
      EXPECT_LE(device == DeviceKind::cuda ? workers_.lanes * buffers : 0, limit);
    }
  }
}

TEST_F(LayoutTest, SaysWhyItDoesNotWriteDirectly) {
  TargetFile small({.path = dir_.path() / "out", .type = {ElementType::u1}}, 5, {});
  const Output output{small, 1, false};
  const std::string reason = "writing through the page cache: the output is smaller than a page";
  const auto reasons = [&](const Options& options, std::uint64_t bytes) {
    return choose_layout(options, DeviceKind::cpu, workers_, sparse(bytes), 1, &output).reasons;
  };
  EXPECT_EQ(reasons({}, 5).back(), reason);
  EXPECT_TRUE(reasons({.direct = DirectIo::no}, 5).empty());
  EXPECT_TRUE(reasons({}, 0).empty());
}

TEST_F(LayoutTest, LargeBlocksLeaveRequestsToStart) {
  const Layout layout = choose_layout({.chunk_bytes = 64 * MiB, .block_bytes = 64 * MiB},
                                      DeviceKind::cpu, workers_, sparse(1 * GiB), 1);
  EXPECT_GE(layout.reads.queue_depth, 1u);
}

TEST_F(LayoutTest, GathersWhatIsNotAlignedAsItsType) {
  const auto gathers = [&](std::uint64_t offset, std::size_t element_bytes) {
    return choose_layout({}, DeviceKind::cpu, workers_, sparse(120, offset), element_bytes).gathers;
  };
  EXPECT_FALSE(gathers(8, 8));
  EXPECT_TRUE(gathers(4, 8));
  EXPECT_FALSE(gathers(4, 12));  // three floats, say
  EXPECT_TRUE(gathers(2, 12));
  EXPECT_FALSE(gathers(1, 3));
}

TEST_F(LayoutTest, RefusesWhatDoesNotFit) {
  try {
    choose_layout({.memory_bytes = 1000}, DeviceKind::cpu, workers_, sparse(8 * GiB), 1);
    FAIL() << "a pool of less than a tile";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_FALSE(error.details().hint.empty());
  }
}

TEST(Workers, AreAsManyAsAskedFor) {
  EXPECT_EQ(choose_workers({.streams = 3, .threads = 8}, DeviceKind::cuda).readers, 5u);
  for (const std::size_t threads : {1u, 2u, 5u, 16u}) {
    const Workers workers = choose_workers({.threads = threads}, DeviceKind::cpu);
    EXPECT_EQ(workers.lanes + workers.readers, std::max<std::size_t>(threads, 2));
    EXPECT_EQ(workers.reading_lanes, threads);
  }
}

}  // namespace
}  // namespace ooc
