#include <ooc/detail/content/file_signature.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace ooc::detail {
namespace {

using namespace std::string_view_literals;

std::optional<FileSignature> recognise_text(std::string_view head) {
  return recognise({.head = head, .bytes = head.size()});
}

TEST(FileSignature, KnowsFormatsByTheirFirstBytes) {
  const auto gzip = "\x1f\x8b\x08\0\0\0\0\0\x02\xff\x01\x01\0\xfe\xff!\0\0\0\0\x01\0\0\0"sv;
  EXPECT_EQ(recognise_text(gzip)->name, "gzip");
  EXPECT_EQ(recognise_text("\x89HDF\r\n\x1a\n\0"sv)->name, "HDF5");
  EXPECT_EQ(recognise_text(std::string(512, 'x') + "\x89HDF\r\n\x1a\n")->name, "HDF5");
  EXPECT_FALSE(recognise_text("PK\x03\x04\x14\0\0\0\x08\0"sv)->hint.empty());
  EXPECT_EQ(recognise_text("BZh91AY&SY"sv)->name, "bzip2");
  EXPECT_EQ(recognise_text("RIFF\x24\0\0\0WAVEfmt "sv)->name, "WAVE audio");
  EXPECT_FALSE(recognise_text("RIFF\x24\0\0\0AVI "sv));
  EXPECT_FALSE(recognise_text("RIFF"sv));
  EXPECT_FALSE(recognise_text("PAR"sv));
  EXPECT_FALSE(recognise_text(""sv));
  EXPECT_FALSE(recognise_text("\0\0\0\0\0\0\0\0\0\0"sv));
}

TEST(FileSignature, NeedsTheStructureBehindTheMagicBytes) {
  EXPECT_FALSE(recognise_text("\x1f\x8b\x08\xff\0\0\0\0\x02\xff"sv)) << "reserved flags";
  EXPECT_FALSE(recognise_text(std::string(257, 'x') + "ustar" + std::string(250, 'x')));
  EXPECT_FALSE(recognise_text("II*\0\xff\xff\0\0\0\0\0\0"sv)) << "its directory is beyond its end";
  EXPECT_FALSE(
      recognise_text("\x7f"
                     "ELF\0\0\0"sv));
  EXPECT_FALSE(recognise_text("\x78\x9c\xff\xff\xff\xff\xff\xff"sv)) << "no deflated data";
  EXPECT_FALSE(
      recognise_text("\0\0\x08\x01\0\0\0\x05"
                     "abc"sv))
      << "another size than it says";
  EXPECT_EQ(recognise_text("\0\0\x08\x01\0\0\0\x03"
                           "abc"sv)
                ->data_offset,
            8u);
}

std::string integers(std::size_t count, std::size_t width, std::mt19937_64& random,
                     std::uint64_t most) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = random() % (most + 1);
    for (std::size_t k = 0; k < width; ++k) bytes += static_cast<char>(value >> (8 * k));
  }
  return bytes;
}

/// Numbers of all kinds: random ones, small and large ones, and those that begin like a format of
/// few magic bytes.
TEST(FileSignature, TakesNumbersForNumbers) {
  std::mt19937_64 random(3);
  const std::string_view begins[]{""sv,
                                  "\x78\x9c"sv,
                                  "\x78\x01"sv,
                                  "\x78\xda"sv,
                                  "\x1f\x9d\x90"sv,
                                  "\x5d\0"sv,
                                  "\0\0\x08\x03"sv,
                                  "\x80\x02"sv,
                                  "\x80\x03"
                                  "c"sv,
                                  "\x02\x01"sv,
                                  "\x1f\x8b"sv,
                                  "ORC"sv,
                                  "II*\0"sv,
                                  "PAR1"sv,
                                  "\x5c\x01\0\0"sv,
                                  "\x08\x1d"sv};
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t width = std::size_t{1} << random() % 4;
    const std::uint64_t most = random() >> (random() % 64);
    std::string text(begins[static_cast<std::size_t>(i) % std::size(begins)]);
    text += integers(64 + random() % 64, width, random, most);
    const auto found = recognise({.head = text, .bytes = text.size()});
    EXPECT_FALSE(found) << found->name << " in round " << i;
    if (text.starts_with("II*")) continue;  // four bytes: a stream may be so long
    const auto in_stream = recognise({.head = text});
    EXPECT_FALSE(in_stream) << in_stream->name << " in round " << i;
  }
}

bool is_text(std::string_view head) {
  return looks_like_text(head);
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(FileSignature, KnowsText) {
  EXPECT_TRUE(is_text("1,2\n"));
  EXPECT_TRUE(is_text(repeated("1.5 2.5 ", 100)));
  EXPECT_TRUE(is_text("gr\u00f6\u00dfe\n\u6e29\u5ea6\n"));
  EXPECT_TRUE(is_text(repeated("gr\u00f6\u00dfe\n", 100).substr(0, 513))) << "cut in a character";
  EXPECT_TRUE(is_text("[" + repeated("1,", 300)));
}

TEST(FileSignature, KnowsWhatIsNoText) {
  EXPECT_FALSE(is_text(""));
  EXPECT_FALSE(is_text("abc"));
  EXPECT_FALSE(is_text("\n\n\n\n"));
  EXPECT_FALSE(is_text(std::string(4096, ' ')));
  EXPECT_FALSE(is_text(repeated("ACGT", 1000)));
  EXPECT_FALSE(is_text(std::string("a\n\0", 3)));
  EXPECT_FALSE(is_text("a\n\xff"));
  EXPECT_FALSE(is_text("a\n\xc3"));
  EXPECT_FALSE(is_text("a\n\xc1\xbf")) << "overlong";
  EXPECT_FALSE(is_text("a\n\xed\xa0\x80")) << "a surrogate";
  EXPECT_FALSE(is_text("a\n\x1b[0m")) << "a terminal's control sequence";
  EXPECT_FALSE(is_text(repeated("a\n\x80", 300)));
}

}  // namespace
}  // namespace ooc::detail
