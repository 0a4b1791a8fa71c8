#include "sizing/dry_run_pass.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "support/late_device.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

class DryRunPass : public testing::Test {
 protected:
  void expect_what_run_does(const Options& options) {
    const Source source = open_bytes(path_);
    const Stats plan = dry_run_pass(options, DeviceKind::cpu, {source, 1});
    Coordinator coordinator(make_device(DeviceKind::cpu), options);
    test::Visit ignore;
    const Stats stats = run_pass(coordinator, source, 1, ignore);
    EXPECT_EQ(plan.outcome.bytes, stats.outcome.bytes);
    EXPECT_EQ(plan.layout.engine, stats.layout.engine);
    EXPECT_EQ(plan.layout.direct, stats.layout.direct);
    EXPECT_EQ(plan.layout.reads_inline, stats.layout.reads_inline);
    EXPECT_EQ(plan.layout.reasons, stats.layout.reasons);
    EXPECT_EQ(plan.layout.chunk_bytes, stats.layout.chunk_bytes);
    EXPECT_EQ(plan.layout.chunks, stats.layout.chunks);
    EXPECT_EQ(plan.layout.streams, stats.layout.streams);
    EXPECT_EQ(plan.layout.threads, stats.layout.threads);
    EXPECT_EQ(plan.layout.slots, stats.layout.slots);
    EXPECT_EQ(plan.layout.pool_bytes, stats.layout.pool_bytes);
    EXPECT_EQ(plan.layout.block_bytes, stats.layout.block_bytes);
    EXPECT_EQ(plan.layout.queue_depth, stats.layout.queue_depth);
  }

  test::TempDir directory_;
  std::filesystem::path path_ = directory_.write("data", test::random_bytes(8 * MiB + 5, 1));
};

TEST_F(DryRunPass, SaysWhatARunWillDo) {
  for (const bool cold : {false, true}) {
    for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
      for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
        std::optional<test::HeldInPageCache> held;
        if (cold) {
          test::evict(path_);
        } else {
          held.emplace(path_);
        }
        expect_what_run_does({.engine = engine, .direct = direct});
      }
    }
  }
  for (const std::size_t threads : {1u, 2u, 5u}) {
    {
      const test::HeldInPageCache held(path_);
      expect_what_run_does({.threads = threads});
    }
    test::evict(path_);
    expect_what_run_does({.threads = threads});
  }
  expect_what_run_does({.chunk_bytes = 1 * MiB, .streams = 3, .memory_bytes = 4 * MiB});
}

TEST_F(DryRunPass, RefusesWhatARunWould) {
  const Source source = open_bytes(path_);
  EXPECT_THROW(dry_run_pass({.memory_bytes = 1}, DeviceKind::cpu, {source, 1}), Error);
}

TEST_F(DryRunPass, KnowsWhatStreamsTakeOfAGpuThatNeedNotBeThere) {
  const Source source = open_bytes(path_);
  const Options options{.chunk_bytes = 1 * MiB, .streams = 3};
  EXPECT_EQ(dry_run_pass(options, DeviceKind::cuda, {source, 1}).layout.device_bytes, 3 * 2 * MiB);
  EXPECT_EQ(dry_run_pass(options, DeviceKind::cpu, {source, 1}).layout.device_bytes, 0u);

  // Results have their own buffers, which are twice as large as those of the input.
  TargetFile file({.path = directory_.path() / "out", .type = ElementType::u1}, source.bytes(), {},
                  Purpose::dry_run);
  const Output output{file, 2};
  const Stats plan = dry_run_pass(options, DeviceKind::cuda, {source, 1}, {&output, 1});
  EXPECT_EQ(plan.layout.device_bytes, 3 * (2 + 4) * MiB);
  EXPECT_EQ(plan.outcome.bytes_written, 2 * source.bytes());
}

// A stream of a GPU has a buffer for the structs that the operator reads. Bytes of elements are
// swapped in place, in steps of whole elements.
TEST_F(DryRunPass, KnowsHowStoredRecordsAreDecoded) {
  const std::filesystem::path path = directory_.write("out", test::random_bytes(6'000'000, 2));
  const Source structs = open(path, {.type = parse_dtype("{x:f4,y:>f4,z:f4}")});
  const Source swapped = open(path, {.type = parse_dtype(">f8")});
  const Decoding two_fields{.stored_bytes = 12,
                            .bytes = 8,
                            .moves = {{.from = 8, .to = 0, .bytes = 4},
                                      {.from = 4, .to = 4, .bytes = 4, .swapped_bytes = 4}}};
  const Options options{.chunk_bytes = 1 * MiB, .streams = 2};
  for (const PassInput& input :
       {PassInput{structs, 12, two_fields}, PassInput{structs, 12}, PassInput{swapped, 1}}) {
    const Stats plan = dry_run_pass(options, DeviceKind::cuda, input);
    Coordinator coordinator(std::make_unique<test::LateDevice>(), options);
    test::Visit ignore;
    Reservation pass = begin_pass(coordinator);
    const Stats stats = run_pass(coordinator, pass, {&input, 1}, ignore);
    EXPECT_EQ(plan.layout.device_bytes, stats.layout.device_bytes);
    EXPECT_EQ(plan.layout.chunk_bytes, stats.layout.chunk_bytes);
    EXPECT_EQ(plan.layout.chunks, stats.layout.chunks);
    EXPECT_EQ(plan.layout.streams, stats.layout.streams);
  }
}

TEST_F(DryRunPass, WhatIsToGoOnIsReadFromTheBeginning) {
  const Source source = open_bytes(directory_.write("in", test::random_bytes(100, 2)));
  const PassInput input{source, 1};
  EXPECT_FALSE(needs_of({&input, 1}, nullptr, {}).in_order);
  EXPECT_TRUE(needs_of({&input, 1}, nullptr, {.checkpoint = {.file = "f"}}).in_order);
}

TEST_F(DryRunPass, OfNothingIsEmpty) {
  const Source source = open_bytes(directory_.write("empty", std::string_view{}));
  const Stats plan = dry_run_pass({}, DeviceKind::cpu, {source, 1});
  EXPECT_EQ(plan.layout.chunks, 0u);
  EXPECT_TRUE(plan.layout.engine.empty());
}

}  // namespace
}  // namespace ooc::detail
