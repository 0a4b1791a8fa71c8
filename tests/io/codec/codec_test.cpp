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

TEST(CodecChain, OnlyTheFirstMayHaveAnySize) {
  const CodecChain chain{std::make_shared<Inverted>(), std::make_shared<RunLengths>()};
  Bytes found(10);
  expect_error(ErrorKind::internal, "run lengths is not first in its chain",
               [&] { decode(chain, some_bytes(9), found); });
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
