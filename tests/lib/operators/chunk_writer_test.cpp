// Tests files that the caller's own loop writes.

#include <ooc/chunks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Machine;
using test::on_host;
using Value = std::uint32_t;

class ChunkWriterTest : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    coordinator_ =
        std::make_unique<Coordinator>(test::make_device(GetParam()), Options{.chunk_bytes = 65536});
    coordinator_->device().bind_to_thread();
    stream_ = coordinator_->device().make_stream();
  }

  Target target(const std::string& name) const { return {dir_.path() / name}; }

  /// Returns the values of a file, read by chunks.
  std::vector<Value> read(const Source& source) {
    std::vector<Value> all;
    Chunks chunks(*coordinator_, source);
    while (const auto chunk = chunks.next(*stream_)) {
      const std::vector<Value> values = on_host(*stream_, chunk->rows<Value>());
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  /// Puts values, `at_once` at a time.
  void put(ChunkWriter& out, std::span<const Value> values, std::size_t at_once) {
    while (!values.empty()) {
      const std::size_t count = std::min(at_once, values.size());
      const DeviceRows<Value> room = out.room<Value>();
      ASSERT_GE(room.size, count);
      stream_->copy(room.data, values.data(), count * sizeof(Value));
      out.put(*stream_, count / room.columns);
      values = values.subspan(count);
    }
    stream_->synchronize();
  }

  test::TempDir dir_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<Stream> stream_;
};

INSTANTIATE_TEST_SUITE_P(, ChunkWriterTest, test::all_machines, test::machine_name);

TEST_P(ChunkWriterTest, AppendsWhatIsPut) {
  std::vector<Value> values(100'000);
  std::iota(values.begin(), values.end(), Value{3});
  for (const std::size_t at_once : {1'000u, 4'096u}) {
    for (const char* name : {"a.npy", "a.u32"}) {
      Target to = target(name);
      to.replace = true;
      ChunkWriter out(*coordinator_, to, ElementType::u4, {.room_rows = 4'096});
      put(out, values, at_once);
      EXPECT_EQ(out.rows(), values.size());
      EXPECT_EQ(out.commit(), values.size());
      EXPECT_EQ(read(open(to.path)), values) << name;
    }
  }
}

TEST_P(ChunkWriterTest, WritesRowsInEitherByteOrder) {
  std::vector<Value> values(3 * 1'000);
  std::iota(values.begin(), values.end(), Value{0x01020304});
  Target to = target("rows.npy");
  to.type = DType(ElementType::u4, true);
  ChunkWriter out(*coordinator_, to, ElementType::u4, {.row_shape = {3}, .room_rows = 100});
  put(out, values, 300);
  EXPECT_EQ(out.commit(), 1'000u);
  const Source written = open(to.path);
  EXPECT_TRUE(written.type()->swapped);
  EXPECT_EQ(written.columns(), 3u);
  EXPECT_EQ(written.rows(), 1'000u);
  EXPECT_EQ(read(written), values);
}

TEST_P(ChunkWriterTest, WritesRowsOfAnyShape) {
  std::vector<Value> values(2 * 3 * 100);
  std::iota(values.begin(), values.end(), Value{1});
  ChunkWriter out(*coordinator_, target("images.npy"), ElementType::u4, {.row_shape = {2, 3}});
  EXPECT_EQ(out.room<std::byte>().columns, 6u);
  put(out, values, 30);
  EXPECT_EQ(out.commit(), 100u);
  const Source written = open(dir_.path() / "images.npy");
  EXPECT_EQ(written.rows(), 100u);
  EXPECT_TRUE(std::ranges::equal(written.row_shape(), std::array{2u, 3u}));
  EXPECT_EQ(read(written), values);
  for (const std::vector<std::uint64_t>& wrong :
       {std::vector<std::uint64_t>{3, 0}, {std::uint64_t{1} << 40, std::uint64_t{1} << 40}}) {
    test::expect_error(ErrorKind::usage, "a row ", [&] {
      ChunkWriter(*coordinator_, target("wrong.npy"), ElementType::u4, {.row_shape = wrong});
    });
  }
}

TEST_P(ChunkWriterTest, WritesWhileChunksAreRead) {
  std::vector<Value> values(200'000);
  std::iota(values.begin(), values.end(), Value{1});
  const Source source = from_memory(values);
  ChunkWriter out(*coordinator_, target("copy.u32"), ElementType::u4);
  Chunks chunks(*coordinator_, source, {.rows = 5'000});
  while (const auto chunk = chunks.next(*stream_)) {
    const DeviceRows<const Value> in = chunk->rows<Value>();
    stream_->copy(out.room<Value>().data, in.data, in.size * sizeof(Value));
    out.put(*stream_, chunk->count());
  }
  out.commit();
  EXPECT_EQ(std::filesystem::file_size(dir_.path() / "copy.u32"), values.size() * sizeof(Value));
}

TEST_P(ChunkWriterTest, LeavesNothingThatIsNotCommitted) {
  {
    ChunkWriter out(*coordinator_, target("none.npy"), ElementType::u4);
    out.room<Value>();
    out.put(*stream_, 10);
    ChunkWriter moved(std::move(out));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
  ChunkWriter empty(*coordinator_, target("empty.npy"), ElementType::u4);
  EXPECT_EQ(empty.commit(), 0u);
  EXPECT_TRUE(open(dir_.path() / "empty.npy").is_empty());
}

TEST_P(ChunkWriterTest, RefusesWhatIsOutOfOrder) {
  ChunkWriter out(*coordinator_, target("a.npy"), ElementType::u4, {.room_rows = 10});
  const auto refuse = [](const char* text, auto&& call) {
    test::expect_error(ErrorKind::usage, text, call);
  };
  refuse("put() needs a room", [&] { out.put(*stream_, 1); });
  refuse("is to hold uint32, not float32", [&] { out.room<float>(); });
  out.room<Value>();
  refuse("so many rows there was no room for: 11", [&] { out.put(*stream_, 11); });
  out.put(*stream_, 10);
  refuse("put() needs a room", [&] { out.put(*stream_, 1); });
  out.commit();
  refuse("the file is committed", [&] { out.room<Value>(); });
  refuse("the file is committed", [&] { out.commit(); });
  refuse("the operator makes uint32, the target is to hold float64", [&] {
    ChunkWriter(*coordinator_, {dir_.path() / "b.npy", ElementType::f8}, ElementType::u4);
  });
}

}  // namespace
}  // namespace ooc::detail
