// Tests NIfTI-1 files, and such files that are damaged or hostile. Files are made byte by byte.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
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

/// The numbers of a header.
struct Nifti {
  bool is_big_endian = false;
  std::vector<std::uint64_t> dimensions{2, 3, 2};  // their number in front
  std::uint64_t type = 4, bits = 16;
  float offset = 352, slope = 0, intercept = 0;
  std::string magic{"n+1\0", 4};
  std::string data{std::string(12, '\1')};

  std::string file() const {
    std::string text(352, '\0');
    const auto put = [&](std::size_t at, std::uint64_t number, int bytes) {
      std::string digits = little(number, bytes);
      if (is_big_endian) std::ranges::reverse(digits);
      text.replace(at, digits.size(), digits);
    };
    put(0, 348, 4);
    for (std::size_t i = 0; i < dimensions.size(); ++i) put(40 + 2 * i, dimensions[i], 2);
    put(70, type, 2);
    put(72, bits, 2);
    put(108, std::bit_cast<std::uint32_t>(offset), 4);
    put(112, std::bit_cast<std::uint32_t>(slope), 4);
    put(116, std::bit_cast<std::uint32_t>(intercept), 4);
    return text.replace(344, 4, magic) + data;
  }
};

class NiftiTest : public testing::Test {
 protected:
  Source opened(const Nifti& header, const Format& format = {}) {
    return open(directory_.write("a.nii", header.file()), format);
  }

  void expect_refused(const std::string& problem, const Nifti& header) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(header); });
  }

  test::TempDir directory_;
};

TEST_F(NiftiTest, HasItsShapeReversedInEitherByteOrder) {
  for (const bool is_big_endian : {false, true}) {
    const Source source = opened({.is_big_endian = is_big_endian});
    EXPECT_EQ(code_of(*source.type()), is_big_endian ? ">i2" : "<i2");
    EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
              (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(storage_of(source).front().offset, 352u);
    EXPECT_TRUE(source.has_format(FileFormat::nifti));
    EXPECT_TRUE(source.name().ends_with("/a.nii"));
  }
}

TEST_F(NiftiTest, AllTypesAreRead) {
  constexpr std::array types{std::pair{2, "|u1"},   std::pair{4, "<i2"},   std::pair{8, "<i4"},
                             std::pair{16, "<f4"},  std::pair{64, "<f8"},  std::pair{256, "|i1"},
                             std::pair{512, "<u2"}, std::pair{768, "<u4"}, std::pair{1024, "<i8"},
                             std::pair{1280, "<u8"}};
  for (const auto& [type, code] : types) {
    const std::size_t bytes = size_of(parse_dtype(code));
    const Nifti header{.type = static_cast<std::uint64_t>(type),
                       .bits = 8 * bytes,
                       .data = std::string(6 * bytes, '\1')};
    EXPECT_EQ(code_of(*opened(header).type()), code);
  }
  expect_refused("elements of the data type 32", {.type = 32, .bits = 64});
  expect_refused("bitpix that fits", {.bits = 8});
}

TEST_F(NiftiTest, ExtensionsAreSkipped) {
  EXPECT_EQ(storage_of(opened({.offset = 368, .data = std::string(28, '\1')})).front().offset,
            368u);
  for (const float offset : {0.f, 351.f, 352.5f, -1.f, 1e20f, std::nanf("")}) {
    expect_refused("vox_offset of 352", {.offset = offset});
  }
}

TEST_F(NiftiTest, NumbersThatMeanOthersAreNotRead) {
  for (const float slope : {0.f, 1.f, std::nanf("")}) {
    EXPECT_EQ(opened({.slope = slope}).elements(), 6u);
  }
  EXPECT_EQ(opened({.slope = 0, .intercept = 5}).elements(), 6u)
      << "has no meaning without a slope";
  const std::string scaled = "scl_slope and scl_inter";
  expect_refused(scaled, {.slope = 2});
  expect_refused(scaled, {.slope = 1, .intercept = 1});
  expect_refused(scaled, {.slope = HUGE_VALF});
}

TEST_F(NiftiTest, HeadersThatContradictTheFileAreRefused) {
  expect_refused("is truncated", {.data = std::string(11, '\1')});
  expect_refused("no bytes behind the data", {.data = std::string(13, '\1')});
  expect_refused("is truncated", {.dimensions = {7, 0x7fff, 0x7fff, 0x7fff, 0x7fff, 1, 1, 1}});
  expect_refused("more data than a file can hold",
                 {.dimensions = {7, 0x7fff, 0x7fff, 0x7fff, 0x7fff, 0x7fff, 0x7fff, 0x7fff}});
  expect_refused("1 to 7 dimensions", {.dimensions = {0}});
  expect_refused("1 to 7 dimensions", {.dimensions = {8, 1, 1, 1, 1, 1, 1, 1}});
  expect_refused("lengths of 1 and more", {.dimensions = {2, 3, 0}});
  expect_refused("lengths of 1 and more", {.dimensions = {2, 3, 0xffff}});
  expect_refused("in another file", {.magic = std::string("ni1\0", 4)});
}

TEST_F(NiftiTest, FilesNamedSoAreNoOthers) {
  test::TempDir directory;
  test::expect_error(ErrorKind::bad_input, "the number 348 at its beginning",
                     [&] { open(directory.write("x.nii", std::string(400, '\0'))); });
}

TEST_F(NiftiTest, OtherFilesAreRaw) {
  EXPECT_EQ(opened({}, {.type = parse_dtype("i2"), .offset = 352}).elements(), 6u);
  EXPECT_EQ(opened({}, {.file = FileFormat::raw}).elements(), 364u);
  EXPECT_EQ(open(directory_.write("a.u8", Nifti{.magic = "n+2!"}.file())).elements(), 364u);
  const auto path = directory_.write("a.bin", Nifti{}.file());
  EXPECT_EQ(open(path).elements(), 6u) << "whatever its name";
  EXPECT_EQ(open(read_file(File::open(path)), {}).shape().size(), 2u) << "of a stream";
}

}  // namespace
}  // namespace ooc::detail
