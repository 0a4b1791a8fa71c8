// Tests the ends of loops over chunks: refusals, limits, stops and errors.

#include <ooc/chunks.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/chunks_fixture.hpp"
#include "support/faulty_engine.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::Machine;

class ChunksEndTest : public test::ChunksFixture {};

INSTANTIATE_TEST_SUITE_P(Machines, ChunksEndTest, test::all_machines, test::machine_name);

TEST_P(ChunksEndTest, RefuseWhatTheyCannotGive) {
  const Source source = rows_of(100, 1);
  const auto refused = [&](ErrorKind kind, const std::string& message, ChunksOptions options) {
    expect_error(kind, message, [&] {
      Chunks chunks(*used_, source, std::move(options));
      chunks.next(*stream_);
    });
  };
  refused(ErrorKind::usage, "no shard 2 of 2", {.shard = 2, .shards = 2});
  refused(ErrorKind::usage, "no shard 0 of 0", {.shards = 0});
  refused(ErrorKind::usage, "no checksum", {.shuffle_seed = 1, .pass = {.checksum = true}});
  refused(ErrorKind::usage, "no checksum", {.shards = 2, .pass = {.checksum = true}});
  Chunks chunks(*used_, source);
  const auto chunk = chunks.next(*stream_);
  expect_error(ErrorKind::usage, "holds uint32, not float32", [&] { chunk->rows<float>(); });
  EXPECT_EQ(chunk->rows<std::byte>().columns, sizeof(std::uint32_t));
}

TEST_P(ChunksEndTest, TakeAnyNumberOfRowsAndShards) {
  const Source source = rows_of(1'000, 1);
  constexpr std::size_t most = ~std::size_t{0};
  for (const std::size_t rows : {std::size_t{1} << 62, most}) {
    Chunks chunks(*used_, source, {.rows = rows});
    const auto all = chunks.next(*stream_);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->count(), 1'000u);
  }
  Chunks one(*used_, source, {.rows = 100, .shard = 5, .shards = most});
  EXPECT_EQ(one.next(*stream_)->first(), 500u);
  EXPECT_FALSE(one.next(*stream_));
}

// With fewer slots than lanes, a lane could wait for a slot whose step is lent.
TEST_P(ChunksEndTest, AreFewerWhereMemoryIsLimited) {
  const Source source = rows_of(1'000'000, 1);
  Options options{.streams = 16, .memory_bytes = 4'000'000};
  options.make_engine = [](const EngineOptions& wanted) { return make_engine(wanted); };
  Coordinator limited(test::make_device(GetParam()), options);
  limited.device().bind_to_thread();
  const auto stream = limited.device().make_stream();
  Chunks chunks(limited, source, {.rows = 100'000});
  std::vector<Lease> held;
  const auto take_all = [&] {
    for (;;) held.push_back(*chunks.next(*stream));
  };
  if (GetParam() == Machine::cpu) {
    expect_error(ErrorKind::usage, "are lent", take_all);
    EXPECT_LT(held.size(), 10u);
  }
  held.clear();
  while (chunks.next(*stream)) {
  }
  EXPECT_EQ(chunks.stats().outcome.bytes, 4'000'000u);
}

TEST_P(ChunksEndTest, EndAlsoIfAllThatCanBeHeldAreHeld) {
  const Source source = rows_of(1'200, 1);
  for (const std::size_t count : {1u, 2u, 3u, 4u}) {  // of which a GPU holds four, the CPU two
    for (const std::size_t shards : {1u, 5u}) {
      if (GetParam() == Machine::cpu && count > 2) continue;
      Chunks chunks(*used_, source, {.rows = 1'200 / (count * shards), .shards = shards});
      std::vector<Lease> held;
      while (auto chunk = chunks.next(*stream_)) held.push_back(std::move(*chunk));
      EXPECT_EQ(held.size(), count);
      expect_error(ErrorKind::usage, "no statistics", [&] { chunks.stats(); });
      held.clear();
      EXPECT_FALSE(chunks.next(*stream_));
      EXPECT_EQ(chunks.stats().outcome.bytes, 4'800 / shards);
      EXPECT_EQ(chunks.stats().outcome.records, 1'200 / shards);
    }
  }
}

TEST_P(ChunksEndTest, AnEmptySourceHasNone) {
  const Source source = file_.source_of(std::vector<float>{});
  Chunks chunks(*used_, source, {.shuffle_seed = 1});
  EXPECT_FALSE(chunks.next(*stream_));
  EXPECT_EQ(chunks.stats().outcome.bytes, 0u);
}

TEST_P(ChunksEndTest, AStopEndsThemWithAnError) {
  const Source source = rows_of(100'000, 1);
  for (const bool keep_partial : {false, true}) {
    std::stop_source stop;
    Chunks chunks(*used_, source,
                  {.rows = 10, .pass = {.stop = stop.get_token(), .keep_partial = keep_partial}});
    EXPECT_TRUE(chunks.next(*stream_));
    stop.request_stop();
    const auto take_all = [&] {
      while (chunks.next(*stream_)) {
      }
    };
    if (!keep_partial) {
      expect_error(ErrorKind::interrupted, "interrupted", take_all);
      continue;
    }
    take_all();
    EXPECT_TRUE(chunks.stats().outcome.partial);
    EXPECT_LT(chunks.stats().outcome.bytes, 400'000u);
  }
}

TEST_P(ChunksEndTest, ThoseThatAreLeftGiveUpTheirRequests) {
  const Source source = rows_of(100'000, 1);
  std::stop_token given;
  Options options{.streams = 2};
  options.make_engine = [&](const EngineOptions& wanted) {
    given = wanted.abandon;
    return make_engine(wanted);
  };
  Coordinator coordinator(test::make_device(GetParam()), options);
  coordinator.device().bind_to_thread();
  const auto stream = coordinator.device().make_stream();
  {
    Chunks chunks(coordinator, source, {.rows = 10});
    EXPECT_TRUE(chunks.next(*stream));
    EXPECT_FALSE(given.stop_requested());
  }
  EXPECT_TRUE(given.stop_requested());
  std::stop_source abandon;
  Chunks chunks(coordinator, source, {.rows = 10, .pass = {.abandon = abandon.get_token()}});
  EXPECT_TRUE(chunks.next(*stream));
  abandon.request_stop();
  EXPECT_TRUE(given.stop_requested());
}

TEST_P(ChunksEndTest, AFailedReadIsThrownToTheCaller) {
  const Source source = rows_of(100'000, 1);
  Options options{.streams = 2};
  options.make_engine = [](const EngineOptions& wanted) {
    return std::make_unique<test::FaultyEngine>(
        make_engine(wanted), 5, [] { throw Error(ErrorKind::input, "the disk is broken"); });
  };
  Coordinator coordinator(test::make_device(GetParam()), options);
  coordinator.device().bind_to_thread();
  const auto stream = coordinator.device().make_stream();
  Chunks chunks(coordinator, source, {.rows = 1'000});
  const auto take_all = [&] {
    while (chunks.next(*stream)) {
    }
  };
  expect_error(ErrorKind::input, "the disk is broken", take_all);
  expect_error(ErrorKind::input, "the disk is broken", take_all);  // again, instead of an end
  expect_error(ErrorKind::usage, "no statistics", [&] { chunks.stats(); });
}

}  // namespace
}  // namespace ooc::detail
