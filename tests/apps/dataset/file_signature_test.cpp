#include "dataset/file_signature.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ooc_run {
namespace {

using namespace std::string_view_literals;

std::optional<FileSignature> recognise_text(std::string_view head) {
  return recognise(std::as_bytes(std::span(head)));
}

TEST(FileSignature, KnowsFormatsByTheirFirstBytes) {
  EXPECT_EQ(recognise_text("\x1f\x8b\x08"sv)->name, "gzip");
  EXPECT_EQ(recognise_text("\x89HDF\r\n\x1a\n\0"sv)->name, "HDF5");
  EXPECT_FALSE(recognise_text("PK\x03\x04"sv)->hint.empty());
  EXPECT_EQ(recognise_text("BZh91AY&SY"sv)->name, "bzip2");
  EXPECT_EQ(recognise_text(std::string(257, 'x') + "ustar")->name, "tar");
  EXPECT_EQ(recognise_text("RIFF\x24\0\0\0WAVEfmt "sv)->name, "WAVE audio");
  EXPECT_FALSE(recognise_text("RIFF\x24\0\0\0AVI "sv));
  EXPECT_FALSE(recognise_text("RIFF"sv));
  EXPECT_FALSE(recognise_text("PAR"sv));
  EXPECT_FALSE(recognise_text(""sv));
  EXPECT_FALSE(recognise_text("\0\0\0\0\0\0\0\0\0\0"sv));
}

TEST(FileSignature, FindsTheDataOfSafetensors) {
  const auto found = recognise_text("\x10\x01\0\0\0\0\0\0{\"weights\":"sv);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->data_offset, 8u + 0x110u);
  EXPECT_FALSE(recognise_text("\x10\x01\0\0\0\0\0\x7f{\"weights\":"sv)) << "no header is so long";
  EXPECT_FALSE(recognise_text("\x10\x01\0\0\0\0\0\0"sv));
}

bool is_text(std::string_view head) {
  return looks_like_text(std::as_bytes(std::span(head)));
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
}  // namespace ooc_run
