// Passes over several inputs, and with a margin.

#include <ooc/coordinator.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/fold.hpp>
#include <ooc/target.hpp>

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
#include "support/temp_dir.hpp"

namespace ooc::detail {
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
  void process(std::size_t, Stream& stream, const StepRecords& in, const StepResults&) override {
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
    return SourceAccess::of_files(std::move(files), {{0, 13, cut}, {1, 0, bytes.size() - cut}},
                                  {ElementType::u1});
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
    Reservation pass = begin_pass(coordinator);
    const Stats stats = run_pass(coordinator, pass, inputs, compare);
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
  EXPECT_GE(run_pass(coordinator, source, 1, compare).layout.chunk_bytes, 200'000u);
}

TEST_P(PassInputTest, WithAMarginHaveTheChecksumOfTheirBytes) {
  const Source source = make_source("input", test::random_bytes(records_, 1));
  const auto checksum = [&](Margin margin) {
    CompareInputs compare({test::random_bytes(records_, 1)}, {1}, margin);
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 20'000});
    return run_pass(coordinator, source, 1, compare, {.checksum = true}).outcome.checksum;
  };
  EXPECT_NE(checksum({}), std::nullopt);
  EXPECT_EQ(checksum({5, 100}), checksum({}));
}

// Records of one byte, so that only the elements say where bytes may be cut.
TEST_P(PassInputTest, InTheOtherByteOrderAreSwappedInTheirOwnWidth) {
  const std::size_t count = 100'000;
  std::vector<std::byte> wide = test::random_bytes(count * 4, 4),
                         pair = test::random_bytes(count * 2, 2);
  const auto source_of = [&](const std::string& name, std::span<const std::byte> bytes,
                             ElementType element) {
    return open(dir_.write(name, bytes), {.type = DType{element, true}});
  };
  const Source first = source_of("wide", wide, ElementType::u4);
  const Source second = source_of("pair", pair, ElementType::u2);
  for (std::size_t i = 0; i < wide.size(); i += 4) std::reverse(&wide[i], &wide[i] + 4);
  for (std::size_t i = 0; i < pair.size(); i += 2) std::reverse(&pair[i], &pair[i] + 2);
  for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{50'001}}) {
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = chunk_bytes});
    CompareInputs both({wide, pair}, {4, 2}, {3, 5}, 1);
    const std::array inputs{PassInput{first, 4}, PassInput{second, 2}};
    {
      Reservation pass = begin_pass(coordinator);
      run_pass(coordinator, pass, inputs, both);
    }
    EXPECT_EQ(both.records, count);
    CompareInputs bytes({wide}, {1}, {}, 1);
    run_pass(coordinator, first, 1, bytes);
    EXPECT_EQ(bytes.records, wide.size());
  }
}

/// Copies its second input to the output.
class CopySecond final : public Operation {
 public:
  Margin margin() const noexcept override { return {2, 3}; }
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t, Stream& stream, const StepRecords& in,
               const StepResults& out) override {
    const auto [data, size] = out.outputs.front();
    stream.copy(data, in.inputs[1].data + in.margin.before * 2, size);
  }
  void end(std::size_t, Stream&) override {}
};

TEST_P(PassInputTest, AreMappedToOneFile) {
  const auto first = test::random_bytes(records_, 1), second = test::random_bytes(records_ * 2, 2);
  const std::array sources{make_source("first", first), make_source("second", second)};
  const std::array inputs{PassInput{sources[0], 1}, PassInput{sources[1], 2}};
  for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
    const Target target{
        .path = dir_.path() / "copy.u1", .type = {ElementType::u1}, .replace = true};
    TargetFile file(target, records_ * 2, {});
    const Output output{file, 2};
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 30'000, .direct = direct});
    CopySecond copy;
    Reservation pass = begin_pass(coordinator);
    run_pass(coordinator, pass, inputs, copy, {}, {&output, 1});
    file.commit();
    EXPECT_TRUE(test::same_bytes(test::bytes_of(test::read_whole(target.path)), second));
  }
}

/// Counts records that are equal to their index modulo 256.
struct CountRight {
  using Input = std::uint8_t;
  using Partial = std::uint64_t;
  void consume(Stream& stream, DeviceChunk<const std::uint8_t> in, Partial& count) const {
    std::vector<std::uint8_t> host(in.size);
    stream.copy(host.data(), in.data, in.size);
    stream.synchronize();
    for (std::size_t i = 0; i < in.size; ++i) count += host[i] == (in.first + i) % 256;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

// A fold takes its own records of a step, whatever margin another operation asks for.
TEST_P(PassInputTest, HaveTheLargestMarginOfSeveralOperations) {
  std::vector<std::byte> bytes(records_);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 256);
  const Source source = make_source("counted", bytes);
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 20'000});
  const CountRight op;
  Fold<CountRight> fold(op, facts_of(GetParam()), 1);
  CompareInputs compare({bytes}, {1}, {7, 0});
  CompositeOperation both({&fold, &compare});
  run_pass(coordinator, source, 1, both);
  EXPECT_EQ(fold.take(), records_);
  EXPECT_EQ(compare.records, records_);
}

TEST_P(PassInputTest, OfDifferentLengthsAreRefused) {
  const Source longer = make_source("longer", test::random_bytes(4000, 1));
  const Source shorter = make_source("shorter", test::random_bytes(999, 2));
  Coordinator coordinator(make_device(GetParam()));
  CompareInputs compare({{}, {}}, {4, 1});
  const auto run = [&](RecordShape first, RecordShape second, const PassOptions& wanted) {
    const std::array inputs{PassInput{longer, first}, PassInput{shorter, second}};
    Reservation pass = begin_pass(coordinator);
    run_pass(coordinator, pass, inputs, compare, wanted);
  };
  test::expect_error(ErrorKind::bad_input, "has 1000 records", [&] { run(4, 1, {}); });
  test::expect_error(ErrorKind::bad_input, "has 999", [&] { run(4, 1, {}); });
  test::expect_error(ErrorKind::bad_input, "not a whole number", [&] { run(4, 2, {}); });
  test::expect_error(ErrorKind::usage, "checksum", [&] { run(4, 1, {.checksum = true}); });
}

INSTANTIATE_TEST_SUITE_P(All, PassInputTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
