// Passes over several inputs, and with a margin.

#include <ooc/coordinator.hpp>
#include <ooc/pass_input.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/devices.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

/// Compares the records of each input, and those around them, with their place in `expected`.
class CompareInputs final : public Operation {
 public:
  CompareInputs(std::vector<std::vector<std::byte>> expected, std::vector<std::size_t> record_bytes,
                Margin margin = {}, std::size_t partition = 4096)
      : expected_(std::move(expected)),
        record_bytes_(std::move(record_bytes)),
        margin_(margin),
        partition_(partition) {}

  std::size_t partition() const noexcept override { return partition_; }
  Margin margin() const noexcept override { return margin_; }
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t, Stream& stream, const StepRecords& in, DeviceSpan<std::byte>) override {
    const std::uint64_t all = expected_.front().size() / record_bytes_.front();
    EXPECT_EQ(in.first % partition_, 0u);
    EXPECT_EQ(in.margin.before, std::min<std::uint64_t>(margin_.before, in.first));
    EXPECT_EQ(in.margin.after, std::min<std::uint64_t>(margin_.after, all - in.first - in.count));
    ASSERT_EQ(in.inputs.size(), expected_.size());
    for (std::size_t i = 0; i < in.inputs.size(); ++i) {
      const std::size_t bytes = record_bytes_[i];
      ASSERT_EQ(in.inputs[i].size, in.count_with_margin() * bytes);
      std::vector<std::byte> host(in.inputs[i].size);
      stream.copy(host.data(), in.inputs[i].data, host.size());
      stream.synchronize();
      EXPECT_TRUE(test::same_bytes(
          host,
          std::span(expected_[i]).subspan((in.first - in.margin.before) * bytes, host.size())))
          << "input " << i << " from record " << in.first;
    }
    records += in.count;
  }
  void end(std::size_t, Stream&) override {}

  std::atomic<std::uint64_t> records{0};

 private:
  std::vector<std::vector<std::byte>> expected_;
  std::vector<std::size_t> record_bytes_;
  Margin margin_;
  std::size_t partition_;
};

class PassInputTest : public testing::TestWithParam<DeviceKind> {
 protected:
  static constexpr std::size_t records_ = 400'003;

  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  /// A source of `bytes`, and more before them, in two files.
  Source make_source(const std::string& name, std::span<const std::byte> bytes) {
    std::vector<std::byte> first = test::random_bytes(13, 1);
    const std::size_t cut = bytes.size() / 3 + 1;
    first.insert(first.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut));
    std::vector<File> files;
    files.push_back(File::open(dir_.write(name + "1", first)));
    files.push_back(File::open(dir_.write(name + "2", bytes.subspan(cut))));
    return {std::move(files), {{0, 13, cut}, {1, 0, bytes.size() - cut}}, {ElementType::u1}};
  }

  /// Runs an operation over inputs with records of these sizes.
  void expect_right(const std::vector<std::size_t>& record_bytes, Margin margin,
                    std::size_t partition, Options options) {
    std::vector<std::vector<std::byte>> expected;
    std::vector<Source> sources;
    for (const std::size_t bytes : record_bytes) {
      expected.push_back(test::random_bytes(records_ * bytes, static_cast<unsigned>(bytes)));
      sources.push_back(make_source("input" + std::to_string(sources.size()), expected.back()));
    }
    std::vector<PassInput> inputs;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      inputs.push_back({sources[i], record_bytes[i]});
      bytes += sources[i].bytes();
    }
    CompareInputs compare(std::move(expected), record_bytes, margin, partition);
    Coordinator coordinator(make_device(GetParam()), options);
    const Stats stats = coordinator.run(coordinator.begin_pass(), inputs, compare);
    EXPECT_EQ(compare.records, records_);
    EXPECT_EQ(stats.outcome.bytes, bytes);
    EXPECT_FALSE(stats.outcome.partial);
  }

  test::TempDir dir_;
};

TEST(RecordShape, OfOneValueIsAlignedAsItsSizeAllows) {
  EXPECT_EQ(RecordShape(1).alignment, 1u);
  EXPECT_EQ(RecordShape(12).alignment, 4u);
  EXPECT_EQ(RecordShape(40).alignment, 8u);
  EXPECT_EQ(RecordShape(4096).alignment, 256u);
  EXPECT_EQ(RecordShape(512, 4).alignment, 4u);
}

TEST_P(PassInputTest, HaveTheSameRecordsInEachStep) {
  for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
    for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{100'000}}) {
      const Options options{.chunk_bytes = chunk_bytes, .direct = direct};
      expect_right({4, 1}, {}, 4096, options);
      expect_right({1, 12, 8}, {}, 4096, options);
      expect_right({2, 2}, {}, 1, options);
    }
  }
}

// A partition is larger than a slot, so a GPU puts it together.
TEST_P(PassInputTest, AreReadInPiecesIfAPartitionIsLarge) {
  for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
    expect_right({8, 4}, {}, 262'144, {.chunk_bytes = 200'000, .direct = direct});
    expect_right({8, 4}, {100, 3}, 262'144, {.chunk_bytes = 200'000, .direct = direct});
    expect_right({4}, {0, 5}, 131'072, {.chunk_bytes = 70'000, .direct = direct});
  }
}

TEST_P(PassInputTest, HaveAMarginAroundEachStep) {
  for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
    for (const std::size_t streams : {1u, 3u}) {
      const Options options{.chunk_bytes = 50'000, .streams = streams, .direct = direct};
      expect_right({4}, {1, 0}, 4096, options);
      expect_right({4}, {7, 9}, 4096, options);
      expect_right({3, 8}, {0, 2}, 1024, options);
      expect_right({1}, {10'000, 20'000}, 4096, options);  // more than a chunk has
    }
  }
}

// Chunks are so large that reading a margin twice costs 2 % at most.
TEST_P(PassInputTest, HaveLargeChunksForALargeMargin) {
  const Source source = make_source("wide", test::random_bytes(records_, 1));
  CompareInputs compare({test::random_bytes(records_, 1)}, {1}, {1000, 3000});
  Coordinator coordinator(make_device(GetParam()), {.direct = DirectIo::no});
  EXPECT_GE(coordinator.run(source, 1, compare).layout.chunk_bytes, 200'000u);
}

TEST_P(PassInputTest, WithAMarginHaveTheChecksumOfTheirBytes) {
  const Source source = make_source("input", test::random_bytes(records_, 1));
  const auto checksum = [&](Margin margin) {
    CompareInputs compare({test::random_bytes(records_, 1)}, {1}, margin);
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 20'000});
    return coordinator.run(source, 1, compare, {.checksum = true}).outcome.checksum;
  };
  EXPECT_NE(checksum({}), std::nullopt);
  EXPECT_EQ(checksum({5, 100}), checksum({}));
}

TEST_P(PassInputTest, OfWhichOnlyOneIsCachedAreReadRight) {
  const auto first = test::random_bytes(records_ * 8, 8), second = test::random_bytes(records_, 1);
  const std::array sources{make_source("first", first), make_source("second", second)};
  for (const std::size_t evicted : {0u, 1u}) {
    for (const File& file : sources[evicted].files()) test::evict(file.path());
    const std::array inputs{PassInput{sources[0], 8}, PassInput{sources[1], 1}};
    CompareInputs compare({first, second}, {8, 1});
    Coordinator coordinator(make_device(GetParam()));
    coordinator.run(coordinator.begin_pass(), inputs, compare);
    EXPECT_EQ(compare.records, records_);
  }
}

TEST_P(PassInputTest, OfDifferentLengthsAreRefused) {
  const Source longer = make_source("longer", test::random_bytes(4000, 1));
  const Source shorter = make_source("shorter", test::random_bytes(999, 2));
  Coordinator coordinator(make_device(GetParam()));
  CompareInputs compare({{}, {}}, {4, 1});
  const auto run = [&](RecordShape first, RecordShape second, const PassOptions& wanted) {
    const std::array inputs{PassInput{longer, first}, PassInput{shorter, second}};
    coordinator.run(coordinator.begin_pass(), inputs, compare, wanted);
  };
  test::expect_error(ErrorKind::bad_input, "has 1000 records", [&] { run(4, 1, {}); });
  test::expect_error(ErrorKind::bad_input, "has 999", [&] { run(4, 1, {}); });
  test::expect_error(ErrorKind::bad_input, "not a whole number", [&] { run(4, 2, {}); });
  test::expect_error(ErrorKind::usage, "checksum", [&] { run(4, 1, {.checksum = true}); });
}

INSTANTIATE_TEST_SUITE_P(All, PassInputTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc
