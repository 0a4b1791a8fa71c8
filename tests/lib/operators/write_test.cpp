// Tests passes without a source.

#include <ooc/error.hpp>
#include <ooc/write.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Machine;
using test::to_device;

struct Ramp {
  using Output = std::uint64_t;
  void produce(Stream& stream, DeviceChunk<std::uint64_t> out) const {
    std::vector<std::uint64_t> values(out.size);
    std::iota(values.begin(), values.end(), out.first);
    to_device(stream, out.data, std::span<const std::uint64_t>(values));
  }
};

/// Each number, and a row of it.
struct RampAndRows {
  using Output = std::tuple<std::uint64_t, Row<std::uint8_t>>;
  std::size_t length;

  std::array<std::size_t, 2> output_columns(std::size_t) const { return {1, length}; }
  void produce(Stream& stream, DeviceChunk<std::uint64_t> out,
               DeviceRows<std::uint8_t> rows) const {
    EXPECT_EQ(out.first, rows.first);
    EXPECT_EQ(rows.rows(), out.size);
    Ramp{}.produce(stream, out);
    std::vector<std::uint8_t> values;
    for (std::size_t i = 0; i < out.size; ++i) {
      values.insert(values.end(), length, static_cast<std::uint8_t>(out.first + i));
    }
    to_device(stream, rows.data, std::span<const std::uint8_t>(values));
  }
};

static_assert(WriteOperator<Ramp> && WriteOperator<RampAndRows> && !WriteOperator<int>);

class WriteTest : public testing::TestWithParam<Machine> {
 protected:
  static constexpr std::uint64_t count_ = 500'003;

  void SetUp() override { OOC_SKIP_WITHOUT_MACHINE(GetParam()); }

  Target target(const std::string& name, ElementType type = ElementType::u8) const {
    return {.path = dir_.path() / name, .type = {type}, .replace = true};
  }
  bool is_ramp(const std::string& name, std::uint64_t count, std::size_t skipped = 0) const {
    std::vector<std::uint64_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    return test::read_whole(dir_.path() / name).substr(skipped) ==
           std::string(reinterpret_cast<const char*>(expected.data()), count * 8);
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Machines, WriteTest, test::all_machines, test::machine_name);

TEST_P(WriteTest, MakesRecordsFromTheirPlaces) {
  for (const std::size_t chunk : {std::size_t{0}, std::size_t{1} << 20}) {
    for (const std::size_t streams : {1u, 3u}) {
      for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
        Coordinator coordinator(test::make_device(GetParam()),
                                {.chunk_bytes = chunk, .streams = streams, .direct = direct});
        const Stats stats = write(coordinator, Ramp{}, target("ramp.u64"), count_).stats;
        EXPECT_TRUE(is_ramp("ramp.u64", count_)) << chunk << ", " << streams;
        EXPECT_EQ(stats.outcome.records, count_);
        EXPECT_EQ(stats.outcome.bytes, 0u);
        EXPECT_EQ(stats.outcome.bytes_written, count_ * 8);
        EXPECT_TRUE(chunk == 0 || stats.layout.chunk_bytes == chunk);
      }
    }
  }
}

TEST_P(WriteTest, WritesSeveralFilesAndRows) {
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 1 << 20});
  const std::array targets{target("ramp.npy"), target("rows.npy", ElementType::u1)};
  write(coordinator, RampAndRows{3}, targets, count_);
  EXPECT_TRUE(is_ramp("ramp.npy", count_, 4096));
  const Source rows = open(dir_.path() / "rows.npy");
  EXPECT_EQ(std::vector(rows.shape().begin(), rows.shape().end()),
            (std::vector<std::uint64_t>{count_, 3}));
  const std::string bytes = test::read_whole(dir_.path() / "rows.npy").substr(4096);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], static_cast<char>(i / 3)) << i;
  }
}

TEST_P(WriteTest, OfNothingWritesAFileOfNothing) {
  Coordinator coordinator(test::make_device(GetParam()));
  write(coordinator, Ramp{}, target("ramp.npy"), 0);
  EXPECT_EQ(open(dir_.path() / "ramp.npy").bytes(), 0u);
}

TEST_P(WriteTest, ReportsWhatIsWritten) {
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 1 << 20});
  Progress last;
  write(coordinator, Ramp{}, target("ramp.u64"), count_,
        {.progress = [&](const Progress& progress) { last = progress; }});
  EXPECT_EQ(last.bytes, count_ * 8);
  EXPECT_EQ(last.total_bytes, count_ * 8);
}

TEST_P(WriteTest, RefusesWhatCannotBe) {
  Coordinator coordinator(test::make_device(GetParam()));
  EXPECT_THROW(write(coordinator, Ramp{}, target("ramp.u64"), count_, {.checksum = true}), Error);
  const std::array targets{target("ramp.u64"), target("rows.u8", ElementType::u1)};
  for (const std::uint64_t count : {std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    EXPECT_THROW(write(coordinator, RampAndRows{8}, targets, count), Error);
  }
  EXPECT_EQ(dir_.names(), std::vector<std::string>{});
}

TEST_P(WriteTest, LeavesNothingBehindWhenItIsStopped) {
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 1 << 20});
  std::stop_source stop;
  stop.request_stop();
  try {
    write(coordinator, Ramp{}, target("ramp.u64"), count_, {.stop = stop.get_token()});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  EXPECT_EQ(dir_.names(), std::vector<std::string>{});
}

}  // namespace
}  // namespace ooc::detail
