#include <ooc/coordinator.hpp>

#include <ooc/fold.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "support/data_file.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

using test::Collect;
using test::Visit;

/// Copies what it is given to its output.
class CopyOut final : public Operation {
 public:
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t, Stream& stream, DeviceSpan<const std::byte> in, std::uint64_t,
               DeviceSpan<std::byte> out) override {
    EXPECT_EQ(out.size, in.size);
    stream.copy(out.data, in.data, in.size);
  }
  void end(std::size_t, Stream&) override {}
};

class CoordinatorTest : public testing::Test {
 protected:
  std::filesystem::path make_file(const std::string& name, std::size_t bytes,
                                  std::size_t header = 0) {
    const auto values = test::random_bytes(bytes, static_cast<unsigned>(bytes));
    const auto path = dir_.path() / name;
    test::write_file(path, values, header);
    contents_.insert(contents_.end(), values.begin(), values.end());
    return path;
  }
  void expect_all(const Collect& collect) const {
    EXPECT_EQ(collect.seen, contents_.size());
    EXPECT_TRUE(test::same_bytes(collect.data, contents_));
  }

  test::TempDir dir_;
  std::vector<std::byte> contents_;
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
        const Stats stats = coordinator.run(Source{File::open(path)}, 1, collect);
        expect_all(collect);
        EXPECT_EQ(stats.chunks, 6u);
        EXPECT_EQ(stats.streams, streams);
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
    coordinator.run(source, 8, collect);
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
      coordinator.run(Source{File::open(path)}, element_bytes, collect);
      expect_all(collect);
    }
  }
}

TEST_F(CoordinatorTest, SwapsBytesBeforeTheOperatorSeesThem) {
  const auto path = make_file("data.f32", 4 * 100'000);
  for (std::size_t i = 0; i < contents_.size(); i += 4) {
    std::reverse(contents_.data() + i, contents_.data() + i + 4);
  }
  // Also if the operator takes several elements as one.
  for (const std::size_t element_bytes : {4u, 8u, 16u}) {
    Coordinator coordinator(make_device(DeviceKind::cpu));
    Collect collect(contents_.size());
    coordinator.run(open(path, {.type = DType{ElementType::f4, true}}), element_bytes, collect);
    expect_all(collect);
  }
}

TEST_F(CoordinatorTest, SaysHowMuchItWroteAndLeavesTheFileUnpublished) {
  const auto path = make_file("data.bin", 5 * 65536 + 4321);
  const Source source{File::open(path)};
  const Target target{.path = dir_.path() / "out.npy", .type = {ElementType::u1}};
  TargetFile file(target, source.bytes(), {});
  const Output output{file, 1, false};
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536, .streams = 3});
  CopyOut operation;
  const Stats stats = coordinator.run(source, 1, operation, {}, &output);
  EXPECT_EQ(stats.bytes_written, source.bytes());
  EXPECT_GT(stats.write.busy, 0);
  EXPECT_FALSE(std::filesystem::exists(target.path));
  file.commit();
  EXPECT_TRUE(test::read_whole(target.path).substr(file.data_offset()) == test::read_whole(path));
}

// A file whose second half was evicted, read and written: every byte is to come to its place.
TEST_F(CoordinatorTest, ReadsWhatIsCachedAndWhatIsNotByTurns) {
  const auto path = make_file("data.bin", 64 * 65536 + 4321);
  const test::HeldInPageCache held(path, 32 * 65536);
  test::evict(path, 32 * 65536);
  const Source source{File::open(path)};
  const std::string why_not = test::why_not_half_cached(source);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  for (const std::size_t streams : {1u, 3u}) {
    TargetFile file({.path = dir_.path() / "out.u8", .type = {ElementType::u1}, .replace = true},
                    source.bytes(), {});
    const Output output{file, 1, false};
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = 65536, .streams = streams});
    test::evict(path, 32 * 65536);  // reading the file for the comparison has brought it back
    CopyOut operation;
    const Stats stats = coordinator.run(source, 1, operation, {}, &output);
    EXPECT_FALSE(stats.in_order);
    EXPECT_TRUE(stats.direct);
    EXPECT_EQ(stats.engine, "threads");
    EXPECT_EQ(stats.bytes, source.bytes());
    ASSERT_FALSE(stats.reasons.empty());
    EXPECT_NE(stats.reasons[0].find("rest direct"), std::string::npos) << stats.reasons[0];
    file.commit();
    EXPECT_TRUE(test::read_whole(dir_.path() / "out.u8") == test::read_whole(path));
  }
}

TEST_F(CoordinatorTest, ReadsALittleThatIsNotCachedThroughThePageCacheToo) {
  const auto path = make_file("data.bin", 16 * MiB);
  const test::HeldInPageCache held(path, 14 * MiB);
  test::evict(path, 14 * MiB);
  const Source source{File::open(path)};
  const double cached = page_cache_fraction(source).value_or(0);
  if (cached < 0.8 || cached > 0.95) GTEST_SKIP() << "direct: the kernel does not tell or evict";
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536});
  Collect collect(contents_.size());
  const Stats stats = coordinator.run(source, 1, collect);
  EXPECT_FALSE(stats.direct);
  expect_all(collect);
}

TEST_F(CoordinatorTest, RunsAnEmptySource) {
  const auto path = make_file("empty.bin", 0);
  Coordinator coordinator(make_device(DeviceKind::cpu));
  Collect collect(0);
  const Stats stats = coordinator.run(Source{File::open(path)}, 1, collect);
  EXPECT_EQ(stats.chunks, 0u);
  EXPECT_FALSE(stats.partial);
}

TEST_F(CoordinatorTest, RethrowsAnOperatorsErrorAndCanGoOn) {
  const auto path = make_file("data.bin", 40 * 65536);
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536, .streams = 3});
  for (const std::uint64_t chunk : {0u, 1u, 20u, 39u}) {
    Visit failing(
        test::at(chunk * 65536, [] { throw std::runtime_error("the operator's own error"); }));
    EXPECT_THROW(coordinator.run(Source{File::open(path)}, 1, failing), std::runtime_error);
    Collect collect(contents_.size());
    coordinator.run(Source{File::open(path)}, 1, collect);
    expect_all(collect);
  }
}

/// Asks for an end at a chunk, and is slow in some lanes.
class StopAfter final : public Operation {
 public:
  StopAfter(std::stop_source& source, std::uint64_t after, bool takes_any)
      : stop_(source), after_(after), takes_any_(takes_any) {}
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t lane, Stream&, DeviceSpan<const std::byte> in, std::uint64_t first,
               DeviceSpan<std::byte>) override {
    if (lane % 2 != 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    std::uint64_t end = end_;
    while (end < first + in.size && !end_.compare_exchange_weak(end, first + in.size)) {
    }
    seen_ += in.size;
    if (first >= after_) stop_.request_stop();
  }
  void end(std::size_t, Stream&) override {}
  bool takes_any_chunk() const noexcept override { return takes_any_; }

  std::atomic<std::uint64_t> end_{0}, seen_{0};

 private:
  std::stop_source& stop_;
  std::uint64_t after_;
  bool takes_any_;
};

// Whether the lanes load their own chunks, as they do by default, any of them or their share, or a
// thread does; with slots for all of them, and with fewer than streams were asked for.
TEST_F(CoordinatorTest, StopsEarlyWithAPrefix) {
  struct Limits {
    std::size_t streams, memory_bytes;
  };
  struct Way {
    EngineKind engine;
    bool takes_any;
  };
  const auto path = make_file("data.bin", 200 * 65536);
  const test::HeldInPageCache held(path);
  for (const Way way : {Way{EngineKind::automatic, false}, Way{EngineKind::automatic, true},
                        Way{EngineKind::threads, false}}) {
    for (const Limits limits : {Limits{1, 0}, Limits{3, 0}, Limits{8, 0}, Limits{8, 256 * KiB}}) {
      for (const std::uint64_t after : {0u, 5u, 40u}) {
        std::stop_source stop;
        Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536,
                                                               .streams = limits.streams,
                                                               .memory_bytes = limits.memory_bytes,
                                                               .engine = way.engine});
        StopAfter operation(stop, after * 65536, way.takes_any);
        const Stats stats = coordinator.run(Source{File::open(path)}, 1, operation,
                                            {.stop = stop.get_token(), .keep_partial = true});
        EXPECT_TRUE(stats.partial);
        EXPECT_EQ(stats.slots < limits.streams, limits.memory_bytes != 0);
        EXPECT_LT(stats.bytes, contents_.size());
        EXPECT_EQ(stats.bytes, operation.seen_);
        EXPECT_EQ(operation.end_, operation.seen_) << "not a prefix";
        EXPECT_GT(operation.end_, after * 65536);
      }
    }
  }
}

// Stops at any time, from another thread: a chunk that was left out before the last one that was
// computed would be a hole in the answer.
TEST_F(CoordinatorTest, StoppedAtAnyTimeItHasDoneAPrefix) {
  const auto path = make_file("data.bin", 60 * 65536);
  const test::HeldInPageCache held(path);
  const Source source{File::open(path)};
  std::minstd_rand random(1);
  for (const bool takes_any : {false, true}) {
    Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536, .streams = 7});
    for (int pass = 0; pass < 200; ++pass) {
      std::stop_source stop, never;
      StopAfter operation(never, SIZE_MAX, takes_any);
      const std::chrono::microseconds moment(random() % 4000);
      const std::jthread stopping([&] {
        std::this_thread::sleep_for(moment);
        stop.request_stop();
      });
      const Stats stats =
          coordinator.run(source, 1, operation, {.stop = stop.get_token(), .keep_partial = true});
      ASSERT_EQ(operation.end_, operation.seen_) << "not a prefix, pass " << pass;
      ASSERT_EQ(stats.bytes, operation.seen_);
    }
  }
}

TEST_F(CoordinatorTest, RefusesDirectReadsWhereThereAreNone) {
  const std::filesystem::path path = "/dev/shm/ooc-coordinator-test.bin";
  test::write_file(path, std::vector<std::uint8_t>(100'000));
  Coordinator strict(make_device(DeviceKind::cpu), {.direct = DirectIo::yes});
  Collect collect(100'000);
  EXPECT_THROW(strict.run(Source{File::open(path)}, 1, collect), Error);
  Coordinator lenient(make_device(DeviceKind::cpu));
  const Stats stats = lenient.run(Source{File::open(path)}, 1, collect);
  EXPECT_FALSE(stats.direct);
  ASSERT_EQ(stats.reasons.size(), 1u);
  EXPECT_NE(stats.reasons.front().find("tmpfs"), std::string::npos) << stats.reasons.front();
  std::filesystem::remove(path);
}

TEST_F(CoordinatorTest, ReportsProgressToTheEnd) {
  const auto path = make_file("data.bin", 10 * 65536);
  std::vector<Progress> seen;
  const auto caller = std::this_thread::get_id();
  Coordinator coordinator(make_device(DeviceKind::cpu));
  Collect collect(contents_.size());
  coordinator.run(Source{File::open(path)}, 1, collect, {.progress = [&](const Progress& progress) {
                    EXPECT_EQ(std::this_thread::get_id(), caller);
                    seen.push_back(progress);
                  }});
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().bytes, contents_.size());
  EXPECT_EQ(seen.back().total_bytes, contents_.size());
}

/// Reads nothing and fails at the n-th request.
class FailingEngine final : public Engine {
 public:
  explicit FailingEngine(std::size_t good) : good_(good) {}
  void start(Request& request) override { request_ = &request; }
  Request& wait() override {
    Request& request = *std::exchange(request_, nullptr);
    if (good_-- == 0) throw Error(ErrorKind::input, "the disk's own error");
    return request;
  }
  std::size_t in_flight() const noexcept override { return request_ != nullptr; }
  std::size_t depth() const noexcept override { return 1; }
  std::string_view name() const noexcept override { return "failing"; }

 private:
  std::size_t good_;
  Request* request_ = nullptr;
};

TEST_F(CoordinatorTest, RethrowsTheEnginesErrorWhereverItComes) {
  const auto path = make_file("data.bin", 30 * 65536);
  for (std::size_t good = 0; good < 30; ++good) {
    Coordinator coordinator(
        make_device(DeviceKind::cpu),
        {.chunk_bytes = 65536, .streams = 2, .make_engine = [&](const EngineOptions&) {
           return std::make_unique<FailingEngine>(good);
         }});
    Collect collect(contents_.size());
    try {
      coordinator.run(Source{File::open(path)}, 1, collect);
      FAIL() << "no error after " << good << " reads";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "the disk's own error");
    }
  }
}

TEST_F(CoordinatorTest, TakesAnEngineOfLessDepthThanAskedFor) {
  const auto path = make_file("data.bin", 1);
  std::filesystem::resize_file(path, GiB);
  const auto one_at_a_time = [](auto&) { return std::make_unique<FailingEngine>(SIZE_MAX); };
  Coordinator coordinator(make_device(DeviceKind::cpu), {.make_engine = one_at_a_time});
  Visit operation;
  EXPECT_EQ(coordinator.run(Source{File::open(path)}, 1, operation).bytes, GiB);
}

}  // namespace
}  // namespace ooc
