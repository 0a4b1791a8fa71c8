#include <ooc/detail/codec/codec.hpp>

#include <ooc/detail/base/shared_library.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/encoded.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::Inverted;
using test::RunLengths;

using Bytes = std::vector<std::byte>;

/// Bytes of which many are equal to those before.
Bytes some_bytes(std::size_t count) {
  std::mt19937 random(1);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = i != 0 && random() % 3 != 0 ? bytes[i - 1] : std::byte(random());
  }
  return bytes;
}

TEST(CodecChain, DecodesInOrder) {
  const CodecChain chain{std::make_shared<RunLengths>(), std::make_shared<Inverted>(),
                         std::make_shared<Inverted>()};
  for (const std::size_t count : {0u, 1u, 300u, 100'000u}) {
    const Bytes bytes = some_bytes(count);
    const Bytes encoded = RunLengths::encode(Inverted::encode(Inverted::encode(bytes)));
    Bytes found(count);
    decode(chain, encoded, found);
    EXPECT_TRUE(found == bytes);
  }
}

TEST(CodecChain, WithoutCodecsCopies) {
  const Bytes bytes = some_bytes(1000);
  Bytes found(1000);
  decode({}, bytes, found);
  EXPECT_TRUE(found == bytes);
  expect_error(ErrorKind::bad_input, "1000 bytes are stored for 999",
               [&] { decode({}, bytes, std::span(found).first(999)); });
}

TEST(CodecChain, OnlyOneMayHaveAnySize) {
  const CodecChain chain{std::make_shared<RunLengths>(), std::make_shared<RunLengths>()};
  Bytes found(10);
  expect_error(ErrorKind::internal, "run lengths and another codec",
               [&] { decode(chain, some_bytes(9), found); });
}

/// Returns bytes with the CRC-32C of "123456789", a common check.
Bytes checked_digits() {
  Bytes bytes;
  for (const char digit : {'1', '2', '3', '4', '5', '6', '7', '8', '9'}) {
    bytes.push_back(std::byte(digit));
  }
  for (const unsigned byte : {0x83u, 0x92u, 0x06u, 0xe3u}) bytes.push_back(std::byte(byte));
  return bytes;
}

TEST(Crc32c, FindsAnyByteThatDiffers) {
  const Bytes good = checked_digits();
  Bytes found(9);
  decode({crc32c_codec()}, good, found);
  EXPECT_TRUE(std::ranges::equal(found, std::span(good).first(9)));
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= std::byte{1};
    expect_error(ErrorKind::bad_input, "crc32c: the checksum differs",
                 [&] { decode({crc32c_codec()}, bad, found); });
  }
  expect_error(ErrorKind::bad_input, "crc32c: 3 bytes are stored for 0 and a checksum", [&] {
    decode({crc32c_codec()}, std::span(good).first(3), std::span(found).first(0));
  });
}

/// Returns a member of gzip: its header, one block that is not compressed, checksum and size.
Bytes gzip_of_digits() {
  Bytes bytes;
  for (const unsigned byte :
       {0x1fu, 0x8bu, 8u, 0u, 0u, 0u, 0u, 0u, 0u, 3u, 1u, 9u, 0u, 0xf6u, 0xffu}) {
    bytes.push_back(std::byte(byte));
  }
  const Bytes digits = checked_digits();
  bytes.insert(bytes.end(), digits.begin(), digits.begin() + 9);
  for (const unsigned byte : {0x26u, 0x39u, 0xf4u, 0xcbu, 9u, 0u, 0u, 0u}) {
    bytes.push_back(std::byte(byte));
  }
  return bytes;
}

TEST(Gzip, DecodesAMember) {
  std::shared_ptr<const Codec> codec;
  try {
    codec = gzip_codec();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    GTEST_SKIP() << error.what();
  }
  const Bytes good = gzip_of_digits();
  Bytes found(9);
  decode({codec}, good, found);
  const Bytes digits = checked_digits();
  EXPECT_TRUE(std::ranges::equal(found, std::span(digits).first(9)));
  const auto refused = [&](const std::string& what, const Bytes& bytes, std::size_t count) {
    found.resize(count);
    expect_error(ErrorKind::bad_input, what, [&] { decode({codec}, bytes, found); });
  };
  refused("gzip: decodes to more or fewer bytes", good, 8);
  refused("gzip: decodes to more or fewer bytes", good, 10);
  Bytes bad = good;
  bad[16] ^= std::byte{1};
  refused("gzip: these bytes are not valid", bad, 9);
}

/// Adds four bytes, whose values are not looked at.
class Longer final : public Codec {
 public:
  std::string_view name() const noexcept override { return "longer"; }
  std::optional<std::uint64_t> decoded_bytes(std::uint64_t encoded) const noexcept override {
    return encoded - 4;
  }
  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    std::ranges::copy(encoded.first(decoded.size()), decoded.begin());
  }
};

TEST(CodecChain, SizesAreKnownFromBothSides) {
  const CodecChain chain{std::make_shared<Longer>(), std::make_shared<RunLengths>(),
                         std::make_shared<Inverted>()};
  const Bytes bytes = some_bytes(500);
  Bytes encoded = RunLengths::encode(Inverted::encode(bytes));
  encoded.resize(encoded.size() + 4);
  Bytes found(bytes.size());
  decode(chain, encoded, found);
  EXPECT_TRUE(found == bytes);
}

class ZstdTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      codec_ = zstd_codec();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_FALSE(error.details().hint.empty());
      GTEST_SKIP() << error.what();
    }
  }

  /// Returns one frame.
  static Bytes compress(std::span<const std::byte> bytes, int level = 3) {
    constexpr std::array names{"libzstd.so.1"};
    const SharedLibrary library("libzstd", names, ErrorKind::usage, "");
    const auto bound = library.function<std::size_t(std::size_t)>("ZSTD_compressBound");
    const auto compress =
        library.function<std::size_t(void*, std::size_t, const void*, std::size_t, int)>(
            "ZSTD_compress");
    Bytes frame(bound(bytes.size()));
    frame.resize(compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level));
    return frame;
  }

  std::shared_ptr<const Codec> codec_;
};

TEST_F(ZstdTest, DecodesFrames) {
  for (const std::size_t count : {0u, 1u, 1000u, 3'000'000u}) {
    const Bytes bytes = some_bytes(count);
    for (const int level : {-5, 3, 19}) {
      Bytes found(count);
      codec_->decode(compress(bytes, level), found);
      EXPECT_TRUE(found == bytes);
    }
  }
  const Bytes bytes = some_bytes(5000);
  Bytes several = compress(std::span(bytes).first(2000)), found(5000);
  const Bytes second = compress(std::span(bytes).subspan(2000));
  several.insert(several.end(), second.begin(), second.end());
  codec_->decode(several, found);
  EXPECT_TRUE(found == bytes);
}

TEST_F(ZstdTest, RefusesOtherSizesAndDamage) {
  const Bytes bytes = some_bytes(5000);
  const Bytes frame = compress(bytes);
  Bytes small(4999), large(5001), found(5000);
  expect_error(ErrorKind::bad_input, "zstd: ", [&] { codec_->decode(frame, small); });
  expect_error(ErrorKind::bad_input, "zstd: decodes to 5000 bytes, not 5001",
               [&] { codec_->decode(frame, large); });
  for (std::size_t length = 0; length < frame.size(); ++length) {
    expect_error(ErrorKind::bad_input,
                 "zstd: ", [&] { codec_->decode(std::span(frame).first(length), found); });
  }
  // Damage may go unnoticed, since these frames have no checksum, but is never more than that.
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Bytes damaged = frame;
    damaged[random() % damaged.size()] ^= std::byte(1 + random() % 255);
    try {
      codec_->decode(damaged, found);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    }
  }
}

}  // namespace
}  // namespace ooc::detail
