// Tests FITS files: their arrays, and files that are damaged or hostile. Files are made byte by
// byte.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

std::string card(std::string text) {
  text.resize(80, ' ');
  return text;
}

/// Returns "KEYWORD =               VALUE" as a card.
std::string card(std::string keyword, const std::string& value) {
  keyword.resize(8, ' ');
  return card(keyword + "= " + std::string(20 - std::min<std::size_t>(20, value.size()), ' ') +
              value + " / a comment");
}

std::string padded(std::string text, char with) {
  text.resize((text.size() + 2879) / 2880 * 2880, with);
  return text;
}

std::string header(const std::string& first, const std::string& bitpix,
                   const std::vector<std::string>& lengths, const std::string& further = "") {
  std::string cards =
      first + card("BITPIX", bitpix) + card("NAXIS", std::to_string(lengths.size()));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    cards += card("NAXIS" + std::to_string(i + 1), lengths[i]);
  }
  return padded(cards + further + card("END"), ' ');
}

const std::string primary = card("SIMPLE", "T");
const std::string image =
    card("XTENSION", "'IMAGE   '") + card("PCOUNT", "0") + card("GCOUNT", "1");
const std::string empty_primary = header(primary, "8", {});

/// Returns a file with one array, of 3 x 2 numbers of 16 bits.
std::string small(const std::string& further = "") {
  return header(primary, "16", {"2", "3"}, further) + padded(std::string(12, '\1'), '\0');
}

class FitsTest : public testing::Test {
 protected:
  Source opened(const std::string& file, const std::string& name = "", const Format& format = {}) {
    return open(directory_.write("a.fits", file).string() + name, format);
  }

  void expect_refused(const std::string& problem, const std::string& file) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(file); });
  }

  std::vector<StoredArray> arrays_of(const std::string& file) {
    const auto path = directory_.write("a.fits", file);
    return open_unjudged({&path, 1}, {}).arrays;
  }

  test::TempDir directory_;
};

TEST_F(FitsTest, AnArrayHasItsShapeReversedAndIsBigEndian) {
  const Source source = opened(small());
  EXPECT_EQ(source.type(), parse_dtype(">i2"));
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{3, 2}));
  EXPECT_EQ(storage_of(source).front().offset, 2880u);
  EXPECT_TRUE(source.has_format(FileFormat::fits));
  EXPECT_EQ(source.format, "fits");
  EXPECT_TRUE(source.name().ends_with("/a.fits::0"));
  EXPECT_EQ(opened(small(), "::0[1:]").elements(), 4u);
  EXPECT_EQ(opened(small(), "[1:]").elements(), 4u);
}

TEST_F(FitsTest, AllTypesAreRead) {
  constexpr std::array types{std::pair{"8", "|u1"},   std::pair{"16", ">i2"},
                             std::pair{"32", ">i4"},  std::pair{"64", ">i8"},
                             std::pair{"-32", ">f4"}, std::pair{"-64", ">f8"}};
  for (const auto& [bitpix, code] : types) {
    const std::string file = header(primary, bitpix, {"5"}) + std::string(2880, '\1');
    EXPECT_EQ(code_of(*opened(file).type()), code);
    EXPECT_EQ(opened(file).elements(), 5u);
  }
  expect_refused("BITPIX to be", header(primary, "24", {"5"}) + std::string(2880, '\1'));
}

TEST_F(FitsTest, ExtensionsAreNamedByNumberAndName) {
  const auto named = [](const std::string& name) {
    return header(image, "8", {"4"}, card("EXTNAME", "'" + name + "'")) + padded("abcd", '\0');
  };
  const std::string file = empty_primary + named("SCI     ") + named("O''Hara") + named("DQ") +
                           named("DQ") + named("1") + header(image, "8", {"4"}) + "efgh";
  std::vector<std::string> names;
  for (const StoredArray& array : arrays_of(file)) names.push_back(array.name);
  EXPECT_EQ(names, (std::vector<std::string>{"SCI", "O'Hara", "3", "4", "5", "6"}));
  EXPECT_EQ(opened(file, "::SCI").elements(), 4u);
  EXPECT_EQ(storage_of(opened(file, "::1")).front().offset, 2u * 2880);
  EXPECT_TRUE(opened(file, "::1").name().ends_with("::SCI"));
  EXPECT_EQ(storage_of(opened(file, "::6")).front().offset, 12u * 2880);
  expect_error(ErrorKind::usage, "has 6 arrays", [&] { opened(file); });
  expect_error(ErrorKind::usage, "no array 'DQ'", [&] { opened(file, "::DQ"); });
  expect_error(ErrorKind::usage, "no array '0'", [&] { opened(file, "::0"); });
}

TEST_F(FitsTest, NumbersThatMeanOthersAreNotRead) {
  const auto why_not = [&](const std::string& further) {
    return arrays_of(small(further)).front().why_not;
  };
  EXPECT_EQ(why_not(card("BSCALE", "1.0") + card("BZERO", "0.D0") + card("COMMENT")), "");
  const std::string scaled = "numbers that BSCALE and BZERO change";
  EXPECT_EQ(why_not(card("BSCALE", "2.5E-1")), scaled);
  EXPECT_EQ(why_not(card("BZERO", "1")), scaled);
  EXPECT_EQ(why_not(card("BLANK", "-32768")), "integers of which BLANK means none");
  EXPECT_EQ(why_not(card("PCOUNT", "1")), "groups of arrays");
  EXPECT_EQ(why_not(card("GCOUNT", "2")), "groups of arrays");
  expect_refused("BSCALE and BZERO", small(card("BZERO", "32768")));
  const std::string file =
      header(primary, "-32", {"5"}, card("BLANK", "-1")) + std::string(20, 'a');
  EXPECT_EQ(opened(file).elements(), 5u) << "BLANK is for integers";
}

TEST_F(FitsTest, TablesAreListedAndSkipped) {
  const std::string table =
      header(card("XTENSION", "'BINTABLE'") + card("PCOUNT", "3000") + card("GCOUNT", "1"), "8",
             {"10", "20"}) +
      std::string(5760, 'x');
  const std::string compressed = header(card("XTENSION", "'BINTABLE'"), "8", {"8", "1"},
                                        card("ZIMAGE", "T") + card("ZBITPIX", "16")) +
                                 std::string(2880, 'x');
  const std::string groups =
      header(primary, "16", {"0", "2"},
             card("GROUPS", "T") + card("PCOUNT", "3") + card("GCOUNT", "600")) +
      std::string(2880 * 3, 'x');
  const auto arrays =
      arrays_of(groups + table + compressed + header(image, "8", {"3"}) + padded("abc", '\0'));
  ASSERT_EQ(arrays.size(), 4u);
  EXPECT_EQ(arrays[0].why_not, "groups of arrays");
  EXPECT_EQ(arrays[0].bytes, 2u * 600 * (3 + 2));
  EXPECT_EQ(arrays[1].why_not, "columns of a table");
  EXPECT_EQ(arrays[2].why_not, "tiles of a compressed image");
  EXPECT_EQ(arrays[3].why_not, "");
  EXPECT_EQ(arrays[3].name, "3");
  expect_refused("groups of arrays", groups);
}

TEST_F(FitsTest, PaddingBehindTheLastArrayMayBeMissing) {
  EXPECT_EQ(opened(small().substr(0, 2880 + 12)).elements(), 6u);
  expect_refused("is truncated", small().substr(0, 2880 + 11));
  expect_refused("the keyword XTENSION at byte 5760", small() + std::string(2880, '\0'));
  expect_refused("at byte 5760", small() + "x");
}

TEST_F(FitsTest, HeadersThatAreWrongAreRefused) {
  const auto with = [](const std::string& cards) {
    return padded(primary + cards + card("END"), ' ') + std::string(2880, '\0');
  };
  expect_refused("a card END", padded(primary, ' '));
  expect_refused("a card END", padded(primary, ' ').substr(0, 2000));
  expect_refused("a whole number for BITPIX", with(card("NAXIS", "0")));
  expect_refused("a whole number for NAXIS2", with(card("BITPIX", "8") + card("NAXIS", "2")));
  expect_refused("a whole number for NAXIS1",
                 with(card("BITPIX", "8") + card("NAXIS", "1") + card("NAXIS1", "5.0")));
  expect_refused("not negative", header(primary, "8", {"-5"}));
  expect_refused("64 dimensions", with(card("BITPIX", "8") + card("NAXIS", "65")));
  expect_refused("NAXIS1 once", header(primary, "8", {"5"}, card("NAXIS1", "4")));
  expect_refused("BZERO once", small(card("BZERO", "0") + card("BZERO", "32768")));
  expect_refused("a number for BSCALE", small(card("BSCALE", "one")));
  expect_refused("a string of XTENSION",
                 small() + header(card("XTENSION", "'IMAGE"), "8", {"1"}) + "a");
  expect_refused("plain characters", small(card("EXTNAME", "'a\x1b[2J'")));
}

TEST_F(FitsTest, HugeSizesAreRefused) {
  const std::string huge = "9223372036854775807";
  expect_refused("data that a file can hold", header(primary, "8", {huge, huge}));
  expect_refused("data that a file can hold", header(primary, "64", {huge}));
  expect_refused("data that a file can hold",
                 header(primary, "8", {huge}, card("PCOUNT", huge) + card("GCOUNT", "2")));
  expect_refused("is truncated", header(primary, "8", {huge}));
  expect_refused("a whole number for NAXIS1", header(primary, "8", {"18446744073709551616"}));
  EXPECT_EQ(opened(header(primary, "8", {huge, huge, "0"})).elements(), 0u);
}

TEST_F(FitsTest, OtherFilesAreRaw) {
  const auto path = directory_.write("b.fits", small());
  EXPECT_EQ(open(path, {.type = parse_dtype(">i2"), .offset = 2880}).elements(), 1440u);
  EXPECT_EQ(open(path, {.file = FileFormat::raw}).elements(), 5760u);
  const std::string other = "SIMPLE  = 1";
  EXPECT_EQ(open(directory_.write("c.f32", std::string(10, '\0') + other + "xyz")).elements(), 6u);
}

TEST_F(FitsTest, AStreamIsReadUpToItsFirstArray) {
  const auto stream = [&](const std::string& file) {
    return open(read_file(File::open(directory_.write("a.fits", file))), {});
  };
  const Source source = stream(small() + header(image, "8", {"1"}) + "a");
  EXPECT_EQ(source.type(), parse_dtype(">i2"));
  EXPECT_EQ(source.shape().size(), 2u);
  expect_error(ErrorKind::usage, "up to its first header",
               [&] { stream(empty_primary + header(image, "8", {"1"}) + "a"); });
  expect_error(ErrorKind::bad_input, "a card END", [&] { stream(primary); });
}

}  // namespace
}  // namespace ooc::detail
