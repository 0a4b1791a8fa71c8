// Tests the codecs of HDF5's filters: checksums and blocks of LZ4. cli_hdf5_test reads files with
// them.

#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

using Bytes = std::vector<std::byte>;

Bytes bytes_of_text(std::string_view text) {
  Bytes bytes;
  for (const char letter : text) bytes.push_back(std::byte(letter));
  return bytes;
}

/// Returns a number as bytes, big-endian.
Bytes big(std::uint64_t number, std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = count; i-- > 0; number >>= 8) bytes[i] = std::byte(number & 0xff);
  return bytes;
}

Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The checksums are those that libhdf5 has written.
TEST(Fletcher32, HasTheChecksumsOfHdf5) {
  const auto check = [](const Bytes& data, std::uint64_t sum) {
    const Bytes good = data + big(sum, 4);
    Bytes found(data.size());
    fletcher32_codec()->decode(good, found);
    EXPECT_TRUE(found == data);
    for (const std::size_t place : {std::size_t{0}, data.size() / 2, good.size() - 1}) {
      Bytes bad = good;
      bad[place] ^= std::byte{2};
      expect_error(ErrorKind::bad_input, "fletcher32: the checksum differs",
                   [&] { fletcher32_codec()->decode(bad, found); });
    }
  };
  check(bytes_of_text("123456789"), 0xd509df09);
  check(Bytes(1500, std::byte{0xff}), 0xffffffff);
  std::string all;
  for (int i = 0; i < 1280; ++i) all += static_cast<char>(i % 256);
  check(bytes_of_text(all + "x"), 0x3f394b23);
}

TEST(Fletcher32, KnowsSizesFromBothSides) {
  EXPECT_EQ(fletcher32_codec()->encoded_bytes(10), 14u);
  EXPECT_EQ(fletcher32_codec()->decoded_bytes(14), 10u);
  EXPECT_EQ(fletcher32_codec()->decoded_bytes(3), 0u);
  Bytes found(1);
  expect_error(ErrorKind::bad_input, "4 bytes are stored for 1 and a checksum",
               [&] { fletcher32_codec()->decode(Bytes(4), found); });
}

class Lz4BlocksTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      codec_ = lz4_blocks_codec();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      GTEST_SKIP() << error.what();
    }
  }

  /// Returns a block of LZ4 of bytes as they are, with its size in front.
  static Bytes block(const Bytes& bytes) {
    const Bytes stored = Bytes{std::byte(bytes.size() << 4)} + bytes;  // less than 15
    return big(stored.size(), 4) + stored;
  }

  void refuse(std::string_view what, const Bytes& encoded, std::size_t decoded) const {
    Bytes found(decoded);
    expect_error(ErrorKind::bad_input, what, [&] { codec_->decode(encoded, found); });
  }

  std::shared_ptr<const Codec> codec_;
};

TEST_F(Lz4BlocksTest, DecodesBlocksAndTakesStoredOnes) {
  const Bytes digits = bytes_of_text("0123456789");
  const Bytes first = bytes_of_text("0123"), rest = bytes_of_text("89");
  const Bytes encoded =
      big(10, 8) + big(4, 4) + block(first) + big(4, 4) + bytes_of_text("4567") + block(rest);
  Bytes found(10);
  codec_->decode(encoded, found);
  EXPECT_TRUE(found == digits);
  refuse("is of 10 bytes, not 9", encoded, 9);
  refuse("has bytes behind its blocks", encoded + Bytes(1), 10);
  refuse("ends within a block", Bytes(encoded.begin(), encoded.end() - 1), 10);
  refuse("ends within a block", Bytes(7), 10);
  refuse("has blocks of no length", big(10, 8) + big(0, 4), 10);
  refuse("ends within a block", big(10, 8) + big(4, 4) + big(~0u, 4), 10);
}

TEST_F(Lz4BlocksTest, UndoesAShuffleOfBits) {
  // Eight elements of a byte: bit 0 of all, then bit 1, and so on. Three more are as they are.
  const Bytes bits{std::byte{0xff}, std::byte{0x01}, {}, {}, {}, {}, {}, std::byte{0x80}};
  const Bytes encoded = big(11, 8) + big(8, 4) + block(bits) + bytes_of_text("xyz");
  const auto codec = bitshuffle_codec(1);
  Bytes found(11);
  codec->decode(encoded, found);
  EXPECT_EQ(std::to_integer<int>(found[0]), 0x03);
  EXPECT_EQ(std::to_integer<int>(found[1]), 0x01);
  EXPECT_EQ(std::to_integer<int>(found[7]), 0x81);
  EXPECT_EQ(std::to_integer<char>(found[10]), 'z');
  Bytes other(11);
  expect_error(ErrorKind::bad_input, "bitshuffle 1: has blocks of no length",
               [&] { codec->decode(big(11, 8) + big(12, 4) + block(bits), other); });
}

}  // namespace
}  // namespace ooc::detail
