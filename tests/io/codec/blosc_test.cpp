// Tests the codecs of Blosc, LZ4, zlib and shuffled bytes with frames made by hand.

#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

std::string decoded_by(const Codec& codec, std::string_view encoded, std::size_t bytes) {
  std::string decoded(bytes, '?');
  codec.decode(std::as_bytes(std::span(encoded)), std::as_writable_bytes(std::span(decoded)));
  return decoded;
}

void expect_bad(const Codec& codec, const std::string& problem, std::string_view encoded,
                std::size_t bytes) {
  expect_error(ErrorKind::bad_input, problem, [&] { decoded_by(codec, encoded, bytes); });
}

std::string word(std::size_t number) {
  std::string bytes(4, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return bytes;
}

/// Returns a block of LZ4 that has its bytes as they are, fewer than 270.
std::string lz4_block(const std::string& bytes) {
  if (bytes.size() < 15) return static_cast<char>(bytes.size() << 4) + bytes;
  return std::string("\xf0") + static_cast<char>(bytes.size() - 15) + bytes;
}

enum Flag : unsigned { shuffled = 1, copied = 2, bits = 4, whole = 16, by_lz4 = 1 << 5 };

struct Frame {
  unsigned flags = 0, element_bytes = 1;
  std::size_t bytes = 0, block_bytes = 0;

  /// Returns the frame with these blocks.
  std::string of(std::initializer_list<std::string> blocks, unsigned version = 2) const {
    std::string starts, all;
    const std::size_t first = 16 + 4 * blocks.size();
    for (const std::string& block : blocks) {
      starts += word(first + all.size());
      all += block;
    }
    return header(first + all.size(), version) + starts + all;
  }

  std::string header(std::size_t frame_bytes, unsigned version = 2) const {
    std::string text;
    for (const unsigned byte : {version, 1u, flags, element_bytes}) text += static_cast<char>(byte);
    return text + word(bytes) + word(block_bytes) + word(frame_bytes);
  }
};

std::string stream(const std::string& bytes) {
  return word(bytes.size()) + bytes;
}

std::shared_ptr<const Codec> lz4_if_there() {
  try {
    return lz4_codec();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return nullptr;
  }
}

const std::string letters = "abcdefghijklmnop";

TEST(Shuffle, PutsElementsTogether) {
  EXPECT_EQ(decoded_by(*shuffle_codec(4), "aeibfjcgkdhl", 12), "abcdefghijkl");
  EXPECT_EQ(shuffle_codec(4)->name(), "shuffle 4");
  EXPECT_EQ(shuffle_codec(4)->encoded_bytes(9), 9u);
  EXPECT_EQ(shuffle_codec(4)->decoded_bytes(9), 9u);
  expect_bad(*shuffle_codec(4), "shuffle: 3 bytes are stored for 4", "abc", 4);
}

TEST(Lz4, DecodesABlock) {
  if (lz4_if_there() == nullptr) GTEST_SKIP() << "liblz4 is not here";
  EXPECT_EQ(decoded_by(*lz4_codec(), lz4_block("abc"), 3), "abc");
  EXPECT_EQ(decoded_by(*lz4_codec(), std::string(1, '\0'), 0), "");
  expect_bad(*lz4_codec(), "lz4: decodes to 3 bytes, not 4", lz4_block("abc"), 4);
  expect_bad(*lz4_codec(), "lz4: these bytes are not valid", lz4_block("abc"), 2);
  expect_bad(*lz4_codec(), "lz4: these bytes are not valid", "", 1);
  expect_bad(*lz4_codec(), "lz4: these bytes are not valid", "", 0);
  EXPECT_EQ(decoded_by(*sized_lz4_codec(), word(3) + lz4_block("abc"), 3), "abc");
  expect_bad(*sized_lz4_codec(), "lz4: is of 4 bytes, not 3", word(4) + lz4_block("abc"), 3);
  expect_bad(*sized_lz4_codec(), "lz4: is of 3 bytes, not 3", std::string("\3\0\0", 3), 3);
}

TEST(Zlib, DecodesOneStream) {
  std::shared_ptr<const Codec> codec;
  try {
    codec = zlib_codec();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const std::string good("\x78\x01\x01\x03\x00\xfc\xff\x61\x62\x63\x02\x4d\x01\x27", 14);
  EXPECT_EQ(decoded_by(*codec, good, 3), "abc");
  expect_bad(*codec, "zlib: decodes to more or fewer bytes", good, 4);
  expect_bad(*codec, "zlib: decodes to more or fewer bytes", good, 2);
  expect_bad(*codec, "zlib: decodes to more or fewer bytes", good + good, 6);
  expect_bad(*codec, "zlib: these bytes are not valid", good.substr(0, 13), 3);
}

TEST(Blosc, FramesThatAreCopies) {
  const auto codec = blosc_codec();
  const Frame frame{.flags = copied | shuffled, .element_bytes = 4, .bytes = 3, .block_bytes = 3};
  EXPECT_EQ(decoded_by(*codec, frame.header(19) + "abc", 3), "abc");
  EXPECT_EQ(decoded_by(*codec, Frame{.flags = copied, .block_bytes = 1}.header(16), 0), "");
  expect_bad(*codec, "blosc: decodes to more or fewer bytes", frame.header(18) + "ab", 3);
  expect_bad(*codec, "blosc: has 19 bytes, its header says 18", frame.header(18) + "abc", 3);
  expect_bad(*codec, "blosc: is of 3 bytes, not 4", frame.header(19) + "abc", 4);
  expect_bad(*codec, "blosc: is of version 5, not 2", frame.header(19, 5) + "abc", 3);
  expect_bad(*codec, "blosc: is shorter than its header", "abc", 3);
}

TEST(Blosc, DecodesBlocks) {
  if (lz4_if_there() == nullptr) GTEST_SKIP() << "liblz4 is not here";
  const auto codec = blosc_codec();
  Frame frame{.flags = by_lz4 | shuffled, .element_bytes = 4, .bytes = 16, .block_bytes = 12};
  const std::string first = stream(lz4_block("aeibfjcgkdhl")), rest = stream("mnop");
  EXPECT_EQ(decoded_by(*codec, frame.of({first, rest}), 16), letters);
  frame.element_bytes = 1;
  EXPECT_EQ(decoded_by(*codec, frame.of({first, rest}), 16), "aeibfjcgkdhlmnop");
  // Seven elements, and a byte behind them, are not shuffled by bits.
  frame = {.flags = by_lz4 | bits, .element_bytes = 2, .bytes = 15, .block_bytes = 15};
  EXPECT_EQ(decoded_by(*codec, frame.of({stream(letters.substr(1))}), 15), letters.substr(1));
  frame = {.flags = by_lz4 | bits, .element_bytes = 1, .bytes = 8, .block_bytes = 99};
  EXPECT_EQ(decoded_by(*codec, frame.of({stream("\1\2\4\x08\x10\x20\x40\x80")}), 8),
            "\1\2\4\x08\x10\x20\x40\x80");
}

TEST(Blosc, SplitBlocksHaveAStreamForEachByte) {
  if (lz4_if_there() == nullptr) GTEST_SKIP() << "liblz4 is not here";
  const auto codec = blosc_codec();
  Frame frame{.flags = by_lz4 | shuffled, .element_bytes = 2, .bytes = 260, .block_bytes = 256};
  const std::string a(128, 'a'), b(128, 'b');
  std::string expected;
  for (int i = 0; i < 130; ++i) expected += "ab";
  const std::string split = stream(lz4_block(a)) + stream(b);
  EXPECT_EQ(decoded_by(*codec, frame.of({split, stream("aabb")}), 260), expected);
  frame.flags |= whole;
  EXPECT_EQ(decoded_by(*codec, frame.of({stream(lz4_block(a + b)), stream("aabb")}), 260),
            expected);
  frame.flags = by_lz4 | shuffled;
  frame.bytes = frame.block_bytes = 254;  // 127 elements are too few
  const std::string few = stream(lz4_block(a.substr(1) + b.substr(1)));
  EXPECT_EQ(decoded_by(*codec, frame.of({few}), 254), expected.substr(0, 254));
  frame.bytes = frame.block_bytes = 257;
  expect_bad(*codec, "blosc: has streams of different sizes", frame.of({split}), 257);
}

TEST(Blosc, RefusesHostileFrames) {
  if (lz4_if_there() == nullptr) GTEST_SKIP() << "liblz4 is not here";
  const auto codec = blosc_codec();
  Frame frame{.flags = by_lz4, .bytes = 16, .block_bytes = 16};
  const std::string good = frame.of({stream(lz4_block(letters))});
  EXPECT_EQ(decoded_by(*codec, good, 16), letters);
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    std::string cut = good.substr(0, bytes);
    if (bytes >= 16) cut.replace(12, 4, word(bytes));
    expect_bad(*codec, "", cut, 16);
  }
  for (const std::size_t place : {std::size_t{0}, good.size() - 3, std::size_t{0xffffffff}}) {
    std::string moved = good;
    moved.replace(16, 4, word(place));
    expect_bad(*codec, "", moved, 16);
  }
  std::string endless = good;
  endless.replace(20, 4, word(0xffffffff));
  expect_bad(*codec, "blosc: ends within a stream", endless, 16);
  frame.block_bytes = 0;
  expect_bad(*codec, "blosc: has blocks of no bytes", frame.of({""}), 16);
  frame.block_bytes = 16;
  frame.element_bytes = 0;
  expect_bad(*codec, "blosc: has blocks of no bytes", frame.of({""}), 16);
  frame.element_bytes = 1;
  frame.flags = 0;
  expect_bad(*codec, "by blosclz, which is not supported", frame.of({""}), 16);
  frame.flags = 2 << 5;
  expect_bad(*codec, "by snappy, which is not supported", frame.of({""}), 16);
  frame.flags = 7 << 5;
  expect_bad(*codec, "blosc: its codec 7 is not known", frame.of({""}), 16);
}

}  // namespace
}  // namespace ooc::detail
