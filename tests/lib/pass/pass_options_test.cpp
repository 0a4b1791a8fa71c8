#include <ooc/coordinator.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/pass/run_pass.hpp>

#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <numeric>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/data_file.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::chunk_bytes;
using test::Copy;
using test::Sum;

class PassOptionsTest : public testing::Test {
 protected:
  static constexpr std::size_t chunks_ = 40;

  static ErrorKind cause_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind();
    }
    ADD_FAILURE() << "no error";
    return ErrorKind::internal;
  }

  Source source() const { return open(path_); }

  /// Runs a pass on another thread, which blocks in its first chunks while this one calls
  /// `meanwhile`. Returns the sum that the pass computes.
  std::uint64_t sum_while(Coordinator& coordinator, const std::function<void()>& meanwhile) {
    std::promise<void> begun, may_end;
    std::atomic<bool> is_first{true};
    const Sum slow{[&, end = may_end.get_future().share()](std::uint64_t) {
      if (is_first.exchange(false)) begun.set_value();
      end.wait();
    }};
    auto pass =
        std::async(std::launch::async, [&] { return fold(coordinator, slow, source()).value; });
    begun.get_future().wait();
    meanwhile();
    may_end.set_value();
    return pass.get();
  }

  test::TempDir dir_;
  std::vector<std::byte> bytes_ = test::random_bytes(chunks_ * chunk_bytes, 1);
  std::filesystem::path path_ = dir_.write("data.u8", bytes_);
  std::uint64_t sum_ = std::accumulate(
      bytes_.begin(), bytes_.end(), std::uint64_t{0},
      [](std::uint64_t sum, std::byte byte) { return sum + static_cast<std::uint64_t>(byte); });
};

TEST_F(PassOptionsTest, AStoppedFoldThrowsUnlessAPartialAnswerIsAskedFor) {
  for (const bool cached : {true, false}) {
    std::optional<test::HeldInPageCache> held;
    if (cached) held.emplace(path_);
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = chunk_bytes, .streams = 2});
    std::stop_source stop;
    const Sum stopping{test::at(5 * chunk_bytes, [&] { stop.request_stop(); })};
    EXPECT_EQ(cause_of([&] { fold(coordinator, stopping, source(), {.stop = stop.get_token()}); }),
              ErrorKind::interrupted);
    const auto [sum, stats] =
        fold(coordinator, Sum{}, source(), {.stop = stop.get_token(), .keep_partial = true});
    EXPECT_TRUE(stats.outcome.partial);
    EXPECT_EQ(sum, 0u) << "it was stopped before it began";
  }
}

TEST_F(PassOptionsTest, TheNextPassKnowsNothingOfTheStop) {
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk_bytes, .streams = 2});
  for (int i = 0; i < 3; ++i) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(fold(coordinator, Sum{}, source(), {.stop = stop.get_token()}), Error);
    EXPECT_THROW(map(coordinator, Copy{}, source(),
                     {.path = dir_.path() / "copy", .type = {ElementType::u1}},
                     {.stop = stop.get_token(), .keep_partial = true}),
                 Error);
    EXPECT_EQ(fold(coordinator, Sum{}, source()).value, sum_);
  }
}

TEST_F(PassOptionsTest, AStopThatComesAfterTheLastChunkChangesNothing) {
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk_bytes});
  std::stop_source stop;
  std::atomic<std::size_t> seen{0};
  const Sum stopping{[&](std::uint64_t) {
    if (++seen == chunks_) stop.request_stop();
  }};
  EXPECT_EQ(fold(coordinator, stopping, source(), {.stop = stop.get_token()}).value, sum_);
}

TEST_F(PassOptionsTest, TheEngineLearnsWhatIsAbandoned) {
  std::stop_token given;
  Options options{.chunk_bytes = chunk_bytes};
  options.make_engine = [&](const EngineOptions& wanted) {
    given = wanted.abandon;
    return make_engine(wanted);
  };
  Coordinator coordinator(make_device(DeviceKind::cpu), options);
  std::stop_source abandon;
  fold(coordinator, Sum{}, source(), {.abandon = abandon.get_token()});
  EXPECT_FALSE(given.stop_requested());
  abandon.request_stop();
  EXPECT_TRUE(given.stop_requested());
}

// Two passes at once would share the slots of one pool and compute wrong sums without an error.
TEST_F(PassOptionsTest, ASecondPassAtTheSameTimeIsRefused) {
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = chunk_bytes, .streams = 2, .engine = engine});
    const auto second = [&] {
      EXPECT_EQ(cause_of([&] { fold(coordinator, Sum{}, source()); }), ErrorKind::usage);
      EXPECT_EQ(cause_of([&] { static_cast<void>(reserve(coordinator)); }), ErrorKind::usage);
    };
    EXPECT_EQ(sum_while(coordinator, second), sum_);
    EXPECT_EQ(fold(coordinator, Sum{}, source()).value, sum_) << "free again";
  }
}

TEST_F(PassOptionsTest, ThreadsThatShareACoordinatorGetTheRightAnswerOrAnError) {
  const test::HeldInPageCache held(path_);
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk_bytes, .streams = 2});
  std::atomic<int> right{0}, wrong{0}, refused{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const Source own = source();
        for (int round = 0; round < 20; ++round) {
          try {
            ++(fold(coordinator, Sum{}, own).value == sum_ ? right : wrong);
          } catch (const Error& error) {
            ++(error.kind() == ErrorKind::usage ? refused : wrong);
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 0);
  EXPECT_EQ(right + refused, 80);
}

TEST_F(PassOptionsTest, AnOperatorThatFoldsWithItsOwnCoordinatorIsToldSo) {
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk_bytes});
  const Sum nested{[&](std::uint64_t) { fold(coordinator, Sum{}, source()); }};
  EXPECT_EQ(cause_of([&] { fold(coordinator, nested, source()); }), ErrorKind::usage);
  EXPECT_EQ(cause_of([&] {
              fold(coordinator, Sum{}, source(),
                   {.progress = [&](const Progress&) { fold(coordinator, Sum{}, source()); }});
            }),
            ErrorKind::usage);
  EXPECT_EQ(fold(coordinator, Sum{}, source()).value, sum_);
}

/// Calls `merging` when partials are merged. The threads of the pass have ended then, but the
/// partials still use memory of the lanes.
struct SumThatMergesSlowly : Sum {
  std::function<void()> merging;
  void merge(Partial& total, const Partial& part) const {
    merging();
    total += part;
  }
};

TEST_F(PassOptionsTest, NoOtherPassBeginsBeforeThePartialsAreMerged) {
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk_bytes});
  SumThatMergesSlowly sum;
  sum.merging = [&] {
    EXPECT_EQ(cause_of([&] { fold(coordinator, Sum{}, source()); }), ErrorKind::usage);
  };
  EXPECT_EQ(fold(coordinator, sum, source()).value, sum_);
  EXPECT_EQ(fold(coordinator, Sum{}, source()).value, sum_);
}

TEST_F(PassOptionsTest, EachPassHasItsOwnProgressAndObserver) {
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk_bytes});
  std::atomic<std::size_t> reports{0}, kernels{0};
  const PassOptions watched{.progress = [&](const Progress&) { ++reports; },
                            .observe =
                                [&](const TraceEvent& done) {
                                  if (done.kind == TraceEvent::Kind::kernel) ++kernels;
                                }};
  fold(coordinator, Sum{}, source(), watched);
  EXPECT_GE(reports, 1u);
  EXPECT_EQ(kernels, chunks_);
  const std::size_t reports_before = reports;
  fold(coordinator, Sum{}, source());
  EXPECT_EQ(reports, reports_before);
  EXPECT_EQ(kernels, chunks_);
}

}  // namespace
}  // namespace ooc::detail
