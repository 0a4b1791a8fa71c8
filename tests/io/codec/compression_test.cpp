// Tests files that are compressed as a whole, made byte by byte: frames that are read in any order,
// and streams. cli_compressed_test reads those of the libraries.

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include "codec/compression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "io/little_endian.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::little;

/// Returns a frame of zstd that says its size, with blocks that are not compressed.
std::string zstd(const std::string& data, std::size_t block = 1000) {
  std::string frame = "\x28\xb5\x2f\xfd" + little(0xa0, 1) + little(data.size(), 4);
  std::size_t done = 0;
  do {
    const std::string part = data.substr(done, block);
    done += part.size();
    frame += little(part.size() << 3 | (done == data.size() ? 1 : 0), 3) + part;
  } while (done != data.size());
  return frame;
}

/// Returns a frame of zstd that does not say its size.
std::string zstd_stream(const std::string& data) {
  return "\x28\xb5\x2f\xfd" + little(0, 1) + little(0x58, 1) + little(data.size() << 3 | 1, 3) +
         data;
}

std::uint32_t crc32(const std::string& data) {
  std::uint32_t crc = ~0u;
  for (const char byte : data) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

std::string gzip_body(const std::string& data) {
  return little(1, 1) + little(data.size(), 2) + little(~data.size(), 2) + data +
         little(crc32(data), 4) + little(data.size(), 4);
}

std::string gzip(const std::string& data) {
  return "\x1f\x8b\x08" + little(0, 7) + gzip_body(data);
}

/// Returns a member that says how long it is.
std::string bgzip(const std::string& data) {
  const std::string body = gzip_body(data);
  return "\x1f\x8b\x08\x04" + little(0, 6) + little(6, 2) + "BC" + little(2, 2) +
         little(body.size() + 17, 2) + body;
}

std::string lz4(const std::string& data) {
  return "\x04\x22\x4d\x18\x60\x40\x82" + little(data.size() | 1u << 31, 4) + data + little(0, 4);
}

std::string some_text(std::size_t bytes, unsigned seed = 1) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525 + 1013904223;
    text += static_cast<char>(seed >> 24);
  }
  return text;
}

/// Gives its bytes in pieces of at most so many.
class GivenBytes final : public Producer {
 public:
  GivenBytes(std::string bytes, std::size_t most) : bytes_(std::move(bytes)), most_(most) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    if (stop.stop_requested()) return 0;
    const std::size_t count = std::min({room.size(), most_, bytes_.size() - place_});
    std::ranges::copy(test::bytes_of(bytes_).subspan(place_, count), room.begin());
    place_ += count;
    return count;
  }

  std::string name() const override { return "pieces"; }

 private:
  std::string bytes_;
  std::size_t most_, place_ = 0;
};

std::string read_to_end(Producer& producer, std::size_t room_bytes) {
  std::string text, room(room_bytes, '\0');
  for (;;) {
    const std::size_t got = producer.fill(std::as_writable_bytes(std::span(room)), {});
    if (got == 0) return text;
    text += room.substr(0, got);
  }
}

class CompressionTest : public testing::Test {
 protected:
  /// Returns the decoded bytes of a stream.
  static std::string decode(const std::string& stream, Compression compression,
                            std::size_t piece = 1 << 20, std::size_t room = 1 << 20) {
    return read_to_end(*decoded(std::make_unique<GivenBytes>(stream, piece), compression), room);
  }

  std::shared_ptr<const EncodedArray> frames(const std::string& name, const std::string& bytes) {
    File file = File::open(directory_.write(name, bytes));
    const auto compression = compression_of(file);
    return compression ? find_frames(file, *compression) : nullptr;
  }

  /// Checks that frames are read as `data`, in any order.
  void expect_frames(const std::string& name, const std::string& bytes, const std::string& data) {
    SCOPED_TRACE(name);
    const auto array = frames(name, bytes);
    ASSERT_NE(array, nullptr);
    ASSERT_EQ(array->size(), data.size());
    for (const auto& [offset, count] : {std::pair<std::size_t, std::size_t>{0, data.size()},
                                        {data.size() / 3, data.size() / 3}}) {
      std::string found(count, '\0');
      array->read(offset, std::as_writable_bytes(std::span(found)));
      EXPECT_TRUE(found == data.substr(offset, count));
    }
  }

  test::TempDir directory_;
};

TEST_F(CompressionTest, DecodesStreams) {
  const std::string one = some_text(50'000), two = some_text(777, 2);
  const std::vector<std::pair<Compression, std::string>> streams{
      {Compression::zstd, zstd_stream(one) + zstd(two)},
      {Compression::gzip, gzip(one) + gzip(two)},
      {Compression::lz4, lz4(one) + lz4(two)}};
  for (const auto& [compression, stream] : streams) {
    SCOPED_TRACE(name_of(compression));
    EXPECT_TRUE(decode(stream, compression) == one + two);
    EXPECT_TRUE(decode(stream, compression, 1, 7) == one + two);
    EXPECT_TRUE(decode(stream, compression, 1000, 1) == one + two);
    EXPECT_EQ(decode("", compression), "");
    for (const std::size_t cut : {stream.size() - 1, stream.size() - 400, std::size_t{3}}) {
      expect_error(ErrorKind::bad_input, "pieces: ends within its compressed data",
                   [&] { decode(stream.substr(0, cut), compression, 1000); });
    }
    expect_error(ErrorKind::bad_input, "pieces: cannot be decoded behind byte 0",
                 [&] { decode("hello, world, this is no frame at all", compression); });
  }
}

TEST_F(CompressionTest, StopsWhenAsked) {
  const auto stream =
      decoded(std::make_unique<GivenBytes>(zstd(some_text(5000)), 100), Compression::zstd);
  std::stop_source stop;
  stop.request_stop();
  std::string room(5000, '\0');
  EXPECT_EQ(stream->fill(std::as_writable_bytes(std::span(room)), stop.get_token()), 0u);
  EXPECT_EQ(read_to_end(*stream, 100).size(), 5000u);
}

TEST_F(CompressionTest, ReadsFramesInAnyOrder) {
  const std::string data = some_text(5'000'000);
  const auto in_frames = [&](std::size_t bytes, auto compress) {
    std::string all;
    for (std::size_t i = 0; i < data.size(); i += bytes) all += compress(data.substr(i, bytes));
    return all;
  };
  const auto of_zstd = [](const std::string& part) { return zstd(part, 100'000); };
  const std::string skippable = "\x50\x2a\x4d\x18" + little(3, 4) + "abc";
  expect_frames("a.zst", in_frames(3'000'000, of_zstd), data);
  expect_frames("a.zst", in_frames(99'999, of_zstd), data);
  expect_frames("a.zst", skippable + in_frames(2'000'000, of_zstd) + zstd("") + skippable, data);
  std::string seekable, table;
  for (std::size_t i = 0; i < data.size(); i += 120'000) {
    const std::string part = data.substr(i, 120'000), frame = zstd_stream(part);
    seekable += frame;
    table += little(frame.size(), 4) + little(part.size(), 4);
  }
  table += little(table.size() / 8, 4) + little(0, 1) + little(0x8f92eab1, 4);
  expect_frames("a.zst", seekable + "\x5e\x2a\x4d\x18" + little(table.size(), 4) + table, data);
  expect_frames("a.gz", in_frames(60'000, bgzip) + bgzip(""), data);
  expect_frames("a.bgz", in_frames(60'000, bgzip), data);
}

TEST_F(CompressionTest, ShortFramesAreOnePiece) {
  std::string all;
  for (int i = 0; i < 100; ++i) all += zstd(some_text(50'000));
  const auto array = frames("a.zst", all);
  ASSERT_NE(array, nullptr);
  EXPECT_TRUE(array->is_regular());
  EXPECT_EQ(array->longest_band(), 21u * 50'000);  // the first multiple that is 1 MiB or more
  const auto mixed = frames("a.zst", zstd(some_text(100)) + zstd(some_text(5'000'000), 100'000));
  ASSERT_NE(mixed, nullptr);
  EXPECT_EQ(mixed->longest_band(), 5'000'000u);
}

TEST_F(CompressionTest, OtherFilesAreStreams) {
  EXPECT_EQ(frames("a.zst", zstd_stream("hello")), nullptr);
  EXPECT_EQ(frames("a.zst", zstd("")), nullptr);
  EXPECT_EQ(frames("a.zst", zstd("hello") + zstd_stream("hello")), nullptr);
  EXPECT_EQ(frames("a.zst", zstd("hello") + "x"), nullptr);
  EXPECT_EQ(frames("a.zst", zstd("hello").substr(0, 13)), nullptr);
  EXPECT_EQ(frames("a.gz", gzip("hello")), nullptr);
  EXPECT_EQ(frames("a.gz", bgzip("hello") + gzip("hello")), nullptr);
  EXPECT_EQ(frames("a.gz", bgzip("hello").substr(0, 30)), nullptr);
  EXPECT_EQ(frames("a.lz4", lz4("hello")), nullptr);
  // 1 GiB of one byte, by its header
  EXPECT_EQ(frames("a.zst", "\x28\xb5\x2f\xfd" + little(0xa0, 1) + little(1 << 30, 4)), nullptr);
}

TEST_F(CompressionTest, NameAndBeginningMustAgree) {
  const auto found = [&](const std::string& name, const std::string& bytes) {
    return compression_of(File::open(directory_.write(name, bytes)));
  };
  EXPECT_EQ(found("a.f32.zst", zstd("hello")), Compression::zstd);
  EXPECT_EQ(found("A.GZ", gzip("hello")), Compression::gzip);
  EXPECT_EQ(found("a.lz4", lz4("hello")), Compression::lz4);
  expect_error(ErrorKind::bad_input, "a.zst: is named .zst but does not begin like such a file",
               [&] { found("a.zst", gzip("hello")); });
  EXPECT_EQ(found("a.bin", zstd("hello")), std::nullopt);
  EXPECT_EQ(found("a.gz", ""), std::nullopt);
}

TEST_F(CompressionTest, OpensByTheInnerEnding) {
  const std::string data = some_text(4000);
  EXPECT_EQ(open(directory_.write("a.f32.zst", zstd(data))).type(), parse_dtype("f4"));
  EXPECT_EQ(open(directory_.write("a.f32.zst", zstd(data))).elements(), 1000u);
  const Source stream = open(directory_.write("a.u2.gz", gzip(data)));
  EXPECT_TRUE(stream.is_produced());
  EXPECT_EQ(stream.type(), parse_dtype("u2"));
  const auto raw = directory_.write("a.f32.gz", bgzip(data));
  EXPECT_EQ(open(raw, {.count = 2, .file = FileFormat::raw}).bytes(), 8u);
  const auto lz4_path = directory_.write("a.f32.lz4", lz4(data));
  expect_error(ErrorKind::bad_input, "is one stream of lz4", [&] { open({raw, lz4_path}); });
  expect_error(ErrorKind::bad_input, "is one stream of lz4",
               [&] { open(lz4_path.string() + "[1:2]"); });
}

}  // namespace
}  // namespace ooc::detail
