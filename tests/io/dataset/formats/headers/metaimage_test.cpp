// Tests files of MetaImage, with their data and without, and such files that are damaged or
// hostile.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

const std::string meta_lines =
    "ObjectType = Image\nNDims = 2\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
    "CompressedData = False\nOffset = 0 0\nDimSize = 3 2\nElementType = MET_SHORT\n";
const std::string meta_local = "ElementDataFile = LOCAL\n";
const std::string meta_data(12, '\1');

/// Returns the usual lines with a text replaced.
std::string with_meta(const std::string& text, const std::string& by) {
  std::string lines = meta_lines;
  return lines.replace(lines.find(text), text.size(), by);
}

class MetaImageTest : public testing::Test {
 protected:
  Source opened(const std::string& file) { return open(directory_.write("a.mha", file)); }

  void expect_refused(const std::string& problem, const std::string& file) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(file); });
  }

  test::TempDir directory_;
};

TEST_F(MetaImageTest, HasItsLengthsReversed) {
  const Source source = opened(meta_lines + meta_local + meta_data);
  EXPECT_EQ(source.type(), parse_dtype("<i2"));
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{2, 3}));
  EXPECT_TRUE(source.has_format(FileFormat::metaimage));
  EXPECT_EQ(
      code_of(*opened(with_meta("MSB = False", "MSB = True") + meta_local + meta_data).type()),
      ">i2");
  EXPECT_EQ(
      opened(meta_lines + "ElementNumberOfChannels = 2\n" + meta_local + meta_data + meta_data)
          .shape()
          .back(),
      2u);
  EXPECT_EQ(
      code_of(*opened(with_meta("MET_SHORT", "MET_DOUBLE") + meta_local + std::string(48, '\1'))
                   .type()),
      "<f8");
}

TEST_F(MetaImageTest, TheDataMayBeInAFileBeside) {
  directory_.write("a.raw", "head" + meta_data);
  const auto header = [&](const std::string& lines) {
    return open(directory_.write("a.mhd", meta_lines + lines + "ElementDataFile = a.raw\n"));
  };
  EXPECT_EQ(header("HeaderSize = 4\n").elements(), 6u);
  EXPECT_EQ(storage_of(header("HeaderSize = -1\n")).front().offset, 4u);
  expect_error(ErrorKind::bad_input, "no bytes behind", [&] { header(""); });
  expect_error(ErrorKind::bad_input, "is truncated", [&] { header("HeaderSize = 5\n"); });
}

TEST_F(MetaImageTest, WhatIsTrueHasSeveralWords) {
  for (const std::string word : {"T", "1", "TRUE", "yes"}) {
    expect_refused("compressed", with_meta("CompressedData = False", "CompressedData = " + word) +
                                     meta_local + meta_data);
  }
  const std::string lines = with_meta("BinaryData = True", "BinaryData = 1");
  EXPECT_EQ(opened(lines + meta_local + meta_data).elements(), 6u);
}

TEST_F(MetaImageTest, OtherDataAreRefused) {
  expect_refused("no HeaderSize", meta_lines + "HeaderSize = 3\n" + meta_local + meta_data);
  expect_refused("numbers as text",
                 with_meta("BinaryData = True", "BinaryData = False") + meta_local);
  expect_refused("compressed numbers",
                 with_meta("CompressedData = False", "CompressedData = True") + meta_local);
  expect_refused("elements of the type",
                 with_meta("MET_SHORT", "MET_LONG") + meta_local + meta_data);
  expect_refused("in several files", meta_lines + "ElementDataFile = LIST\n");
  expect_refused("a slope",
                 meta_lines + "ElementToIntensityFunctionSlope = 2\n" + meta_local + meta_data);
  expect_refused("BinaryDataByteOrderMSB",
                 with_meta("BinaryDataByteOrderMSB = False\n", "") + meta_local);
  expect_refused("as many lengths", with_meta("NDims = 2", "NDims = 3") + meta_local + meta_data);
  expect_refused("expected ElementDataFile", meta_lines);
  expect_refused("is truncated", meta_lines + meta_local + "short");
}

}  // namespace
}  // namespace ooc::detail
