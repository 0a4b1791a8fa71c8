#include <ooc/coordinator.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/pass/run_pass.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "lib/pass/coordinator_fixture.hpp"
#include "support/data_file.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Collect;
using test::CoordinatorTest;

/// Copies its input to its output.
class CopyOut final : public Operation {
 public:
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    EXPECT_EQ(out.outputs.front().size, in.count);
    stream.copy(out.outputs.front().data, in.inputs.front().data, in.count);
  }
  void end(std::size_t, Stream&) override {}
};

TEST_F(CoordinatorTest, BringsEveryByteOnce) {
  const auto path = make_file("data.bin", 5 * 65536 + 4321);
  for (const std::size_t streams : {1u, 2u, 3u, 16u}) {
    for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
      for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
        Coordinator coordinator(
            make_device(DeviceKind::cpu),
            {.chunk_bytes = 65536, .streams = streams, .engine = engine, .direct = direct});
        Collect collect(contents_.size());
        const Stats stats = run_pass(coordinator, open_bytes(path), 1, collect);
        expect_all(collect);
        EXPECT_EQ(stats.layout.chunks, 6u);
        EXPECT_EQ(stats.layout.streams, streams);
        EXPECT_EQ(collect.begun, static_cast<int>(streams));
        EXPECT_EQ(collect.ended, static_cast<int>(streams));
      }
    }
  }
}

TEST_F(CoordinatorTest, MakesOneSequenceOfSeveralUnalignedFiles) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 9; ++i) {
    paths.push_back(make_file(std::to_string(i) + ".f64", 8 * (1000 + 7777 * i), 13));
  }
  const Source source = open(paths, {.type = DType{ElementType::f8, false}, .offset = 13});
  for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = 1, .streams = 2, .direct = direct});
    Collect collect(contents_.size());
    run_pass(coordinator, source, 8, collect);
    expect_all(collect);
  }
}

TEST_F(CoordinatorTest, TakesElementsOfAnySize) {
  const auto path = make_file("data.bin", 840 * 1001);  // a multiple of each size
  for (const std::size_t element_bytes : {3u, 5u, 12u, 24u, 40u}) {
    for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
      Coordinator coordinator(make_device(DeviceKind::cpu),
                              {.chunk_bytes = 1, .streams = 2, .direct = direct});
      Collect collect(contents_.size());
      run_pass(coordinator, open_bytes(path), element_bytes, collect);
      expect_all(collect);
    }
  }
}

TEST_F(CoordinatorTest, SwapsBytesBeforeTheOperatorSeesThem) {
  const auto path = make_file("data.f32", 4 * 100'000);
  for (std::size_t i = 0; i < contents_.size(); i += 4) {
    std::reverse(contents_.data() + i, contents_.data() + i + 4);
  }
  // The bytes of each element are swapped also if the operator takes several elements as one.
  for (const std::size_t element_bytes : {4u, 8u, 16u}) {
    Coordinator coordinator(make_device(DeviceKind::cpu));
    Collect collect(contents_.size());
    run_pass(coordinator, open(path, {.type = DType{ElementType::f4, true}}), element_bytes,
             collect);
    expect_all(collect);
  }
}

TEST_F(CoordinatorTest, SaysHowMuchItWroteAndLeavesTheFileUnpublished) {
  const auto path = make_file("data.bin", 5 * 65536 + 4321);
  const Source source = open_bytes(path);
  const Target target{.path = dir_.path() / "out.npy", .type = {ElementType::u1}};
  TargetFile file(target, source.bytes(), {});
  const Output output{file, 1};
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536, .streams = 3});
  CopyOut operation;
  const Stats stats = run_pass(coordinator, source, 1, operation, {}, {&output, 1});
  EXPECT_EQ(stats.outcome.bytes_written, source.bytes());
  EXPECT_GT(stats.timing.write.busy, 0);
  EXPECT_FALSE(std::filesystem::exists(target.path));
  file.commit();
  EXPECT_TRUE(test::read_whole(target.path).substr(file.data_offset()) == test::read_whole(path));
}

// Copies a file of which the second half is not cached. Every byte must come to its place.
TEST_F(CoordinatorTest, ReadsWhatIsCachedAndWhatIsNotByTurns) {
  const auto path = make_file("data.bin", 64 * 65536 + 4321);
  const test::HeldInPageCache held(path, 32 * 65536);
  test::evict(path, 32 * 65536);
  const Source source = open_bytes(path);
  const std::string why_not = test::why_not_half_cached(source);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  for (const std::size_t streams : {1u, 3u}) {
    TargetFile file({.path = dir_.path() / "out.u8", .type = {ElementType::u1}, .replace = true},
                    source.bytes(), {});
    const Output output{file, 1};
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = 65536, .streams = streams});
    test::evict(path, 32 * 65536);  // the comparison has read it into the page cache
    CopyOut operation;
    const Stats stats = run_pass(coordinator, source, 1, operation, {}, {&output, 1});
    EXPECT_FALSE(stats.layout.in_order);
    EXPECT_TRUE(stats.layout.direct);
    EXPECT_EQ(stats.layout.engine, "threads");
    EXPECT_EQ(stats.outcome.bytes, source.bytes());
    ASSERT_FALSE(stats.layout.reasons.empty());
    EXPECT_EQ(stats.layout.reasons[0].what, ReasonKind::mixed_reads);
    file.commit();
    EXPECT_TRUE(test::read_whole(dir_.path() / "out.u8") == test::read_whole(path));
  }
}

TEST_F(CoordinatorTest, ReadsALittleThatIsNotCachedThroughThePageCacheToo) {
  const auto path = make_file("data.bin", 16 * MiB);
  const test::HeldInPageCache held(path, 14 * MiB);
  test::evict(path, 14 * MiB);
  const Source source = open_bytes(path);
  const double cached = page_cache_fraction(source).value_or(0);
  if (cached < 0.8 || cached > 0.95) GTEST_SKIP() << test::needs_page_cache;
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536});
  Collect collect(contents_.size());
  const Stats stats = run_pass(coordinator, source, 1, collect);
  EXPECT_FALSE(stats.layout.direct);
  expect_all(collect);
}

TEST_F(CoordinatorTest, RunsAnEmptySource) {
  const auto path = make_file("empty.bin", 0);
  Coordinator coordinator(make_device(DeviceKind::cpu));
  Collect collect(0);
  const Stats stats = run_pass(coordinator, open_bytes(path), 1, collect);
  EXPECT_EQ(stats.layout.chunks, 0u);
  EXPECT_FALSE(stats.outcome.partial);
}

TEST_F(CoordinatorTest, RefusesDirectReadsWhereThereAreNone) {
  const std::filesystem::path path = "/dev/shm/ooc-coordinator-test.bin";
  test::write_file(path, std::vector<std::uint8_t>(100'000));
  Coordinator strict(make_device(DeviceKind::cpu), {.direct = DirectIo::yes});
  Collect collect(100'000);
  EXPECT_THROW(run_pass(strict, open_bytes(path), 1, collect), Error);
  Coordinator lenient(make_device(DeviceKind::cpu));
  const Stats stats = run_pass(lenient, open_bytes(path), 1, collect);
  EXPECT_FALSE(stats.layout.direct);
  EXPECT_EQ(stats.layout.reasons,
            (std::vector{Reason{ReasonKind::buffered_reads, "tmpfs has no disk under it"}}));
  std::filesystem::remove(path);
}

TEST_F(CoordinatorTest, ReportsProgressToTheEnd) {
  const auto path = make_file("data.bin", 10 * 65536);
  std::vector<Progress> seen;
  const auto caller = std::this_thread::get_id();
  Coordinator coordinator(make_device(DeviceKind::cpu));
  Collect collect(contents_.size());
  run_pass(coordinator, open_bytes(path), 1, collect, {.progress = [&](const Progress& progress) {
             EXPECT_EQ(std::this_thread::get_id(), caller);
             seen.push_back(progress);
           }});
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().bytes, contents_.size());
  EXPECT_EQ(seen.back().total_bytes, contents_.size());
}

}  // namespace
}  // namespace ooc::detail
