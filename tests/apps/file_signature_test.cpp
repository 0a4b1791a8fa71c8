#include "file_signature.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ooc_run
