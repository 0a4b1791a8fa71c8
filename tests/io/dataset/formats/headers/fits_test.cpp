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

std::string whole_blocks(std::string text, char with) {
  text.resize((text.size() + 2879) / 2880 * 2880, with);
  return text;
}

std::string fits_unit(const std::string& first, const std::string& bitpix,
                      const std::vector<std::string>& lengths, const std::string& further = "") {
  std::string cards =
      first + card("BITPIX", bitpix) + card("NAXIS", std::to_string(lengths.size()));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    cards += card("NAXIS" + std::to_string(i + 1), lengths[i]);
  }
  return whole_blocks(cards + further + card("END"), ' ');
}

const std::string first_card = card("SIMPLE", "T");
const std::string image_cards =
    card("XTENSION", "'IMAGE   '") + card("PCOUNT", "0") + card("GCOUNT", "1");
const std::string no_array = fits_unit(first_card, "8", {});

/// Returns a file with one array, of 3 x 2 numbers of 16 bits.
std::string small_fits(const std::string& further = "") {
  return fits_unit(first_card, "16", {"2", "3"}, further) +
         whole_blocks(std::string(12, '\1'), '\0');
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
  const Source source = opened(small_fits());
  EXPECT_EQ(source.type(), parse_dtype(">i2"));
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{3, 2}));
  EXPECT_EQ(storage_of(source).front().offset, 2880u);
  EXPECT_TRUE(source.has_format(FileFormat::fits));
  EXPECT_EQ(source.format, "fits");
  EXPECT_TRUE(source.name().ends_with("/a.fits::0"));
  EXPECT_EQ(opened(small_fits(), "::0[1:]").elements(), 4u);
  EXPECT_EQ(opened(small_fits(), "[1:]").elements(), 4u);
}

TEST_F(FitsTest, AllTypesAreRead) {
  constexpr std::array types{std::pair{"8", "|u1"},   std::pair{"16", ">i2"},
                             std::pair{"32", ">i4"},  std::pair{"64", ">i8"},
                             std::pair{"-32", ">f4"}, std::pair{"-64", ">f8"}};
  for (const auto& [bitpix, code] : types) {
    const std::string file = fits_unit(first_card, bitpix, {"5"}) + std::string(2880, '\1');
    EXPECT_EQ(code_of(*opened(file).type()), code);
    EXPECT_EQ(opened(file).elements(), 5u);
  }
  expect_refused("BITPIX to be", fits_unit(first_card, "24", {"5"}) + std::string(2880, '\1'));
}

TEST_F(FitsTest, ExtensionsAreNamedByNumberAndName) {
  const auto named = [](const std::string& name) {
    return fits_unit(image_cards, "8", {"4"}, card("EXTNAME", "'" + name + "'")) +
           whole_blocks("abcd", '\0');
  };
  const std::string file = no_array + named("SCI     ") + named("O''Hara") + named("DQ") +
                           named("DQ") + named("1") + fits_unit(image_cards, "8", {"4"}) + "efgh";
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
    return arrays_of(small_fits(further)).front().why_not;
  };
  EXPECT_EQ(why_not(card("BSCALE", "1.0") + card("BZERO", "0.D0") + card("COMMENT")), "");
  const std::string scaled = "numbers that BSCALE and BZERO change";
  EXPECT_EQ(why_not(card("BSCALE", "2.5E-1")), scaled);
  EXPECT_EQ(why_not(card("BZERO", "1")), scaled);
  EXPECT_EQ(why_not(card("BLANK", "-32768")), "integers of which BLANK means none");
  EXPECT_EQ(why_not(card("PCOUNT", "1")), "groups of arrays");
  EXPECT_EQ(why_not(card("GCOUNT", "2")), "groups of arrays");
  EXPECT_EQ(why_not(card("BSCALE", "-1") + card("BZERO", "32768")), scaled);
  EXPECT_EQ(why_not(card("BZERO", "32768.5")), scaled);
  EXPECT_EQ(why_not(card("BZERO", "-128")), scaled);
  const std::string file =
      fits_unit(first_card, "-32", {"5"}, card("BLANK", "-1")) + std::string(20, 'a');
  EXPECT_EQ(opened(file).elements(), 5u) << "BLANK is for integers";
}

TEST_F(FitsTest, UnsignedIntegersAreStoredAsSignedOnes) {
  const auto read = [&](const std::string& bitpix, const std::string& zero,
                        const std::string& data) {
    const Source source = opened(fits_unit(first_card, bitpix, {"1"}, card("BZERO", zero)) +
                                 whole_blocks(data, '\0'));
    std::string text(source.bytes(), '\0');
    read_exactly(files_of(source).front(), storage_of(source).front().offset,
                 std::as_writable_bytes(std::span(text)));
    return code_of(*source.type()) + " " + text;
  };
  EXPECT_EQ(read("8", "-128", "\x81"), "|i1 \x01");
  EXPECT_EQ(read("16", "3.2768E4", "ab"),
            ">u2 \xe1"
            "b");
  EXPECT_EQ(read("32", "2147483648", "abcd"),
            ">u4 \xe1"
            "bcd");
  EXPECT_EQ(read("64", "9223372036854775808", "abcdefgh"),
            ">u8 \xe1"
            "bcdefgh");
  const auto refused = [&](const std::string& bitpix, const std::string& zero) {
    expect_refused("BSCALE and BZERO", fits_unit(first_card, bitpix, {"1"}, card("BZERO", zero)) +
                                           std::string(2880, '\0'));
  };
  refused("64", "9223372036854775807");
  refused("16", "2147483648");
  refused("-32", "2147483648");
  refused("8", "128");
  const std::string file = small_fits(card("BZERO", "32768"));
  EXPECT_EQ(opened(file, "[1:, 1]").elements(), 2u);
  EXPECT_EQ(opened(fits_unit(first_card, "16", {"0"}, card("BZERO", "32768"))).elements(), 0u);
  expect_error(ErrorKind::usage, "cannot be read as FITS",
               [&] { open(read_file(File::open(directory_.write("a.fits", file))), {}); });
}

TEST_F(FitsTest, TablesAreListedAndSkipped) {
  const std::string table =
      fits_unit(card("XTENSION", "'BINTABLE'") + card("PCOUNT", "3000") + card("GCOUNT", "1"), "8",
                {"10", "20"}) +
      std::string(5760, 'x');
  const std::string compressed = fits_unit(card("XTENSION", "'BINTABLE'"), "8", {"8", "1"},
                                           card("ZIMAGE", "T") + card("ZBITPIX", "16")) +
                                 std::string(2880, 'x');
  const std::string groups =
      fits_unit(first_card, "16", {"0", "2"},
                card("GROUPS", "T") + card("PCOUNT", "3") + card("GCOUNT", "600")) +
      std::string(2880 * 3, 'x');
  const auto arrays = arrays_of(groups + table + compressed + fits_unit(image_cards, "8", {"3"}) +
                                whole_blocks("abc", '\0'));
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
  EXPECT_EQ(opened(small_fits().substr(0, 2880 + 12)).elements(), 6u);
  expect_refused("is truncated", small_fits().substr(0, 2880 + 11));
  expect_refused("the keyword XTENSION at byte 5760", small_fits() + std::string(2880, '\0'));
  expect_refused("at byte 5760", small_fits() + "x");
}

TEST_F(FitsTest, HeadersThatAreWrongAreRefused) {
  const auto with = [](const std::string& cards) {
    return whole_blocks(first_card + cards + card("END"), ' ') + std::string(2880, '\0');
  };
  expect_refused("a card END", whole_blocks(first_card, ' '));
  expect_refused("a card END", whole_blocks(first_card, ' ').substr(0, 2000));
  expect_refused("a whole number for BITPIX", with(card("NAXIS", "0")));
  expect_refused("a whole number for NAXIS2", with(card("BITPIX", "8") + card("NAXIS", "2")));
  expect_refused("a whole number for NAXIS1",
                 with(card("BITPIX", "8") + card("NAXIS", "1") + card("NAXIS1", "5.0")));
  expect_refused("not negative", fits_unit(first_card, "8", {"-5"}));
  expect_refused("64 dimensions", with(card("BITPIX", "8") + card("NAXIS", "65")));
  expect_refused("NAXIS1 once", fits_unit(first_card, "8", {"5"}, card("NAXIS1", "4")));
  expect_refused("BZERO once", small_fits(card("BZERO", "0") + card("BZERO", "32768")));
  expect_refused("a number for BSCALE", small_fits(card("BSCALE", "one")));
  expect_refused("a string of XTENSION",
                 small_fits() + fits_unit(card("XTENSION", "'IMAGE"), "8", {"1"}) + "a");
  expect_refused("plain characters", small_fits(card("EXTNAME", "'a\x1b[2J'")));
}

TEST_F(FitsTest, HugeSizesAreRefused) {
  const std::string huge = "9223372036854775807";
  expect_refused("data that a file can hold", fits_unit(first_card, "8", {huge, huge}));
  expect_refused("data that a file can hold", fits_unit(first_card, "64", {huge}));
  expect_refused("data that a file can hold",
                 fits_unit(first_card, "8", {huge}, card("PCOUNT", huge) + card("GCOUNT", "2")));
  expect_refused("is truncated", fits_unit(first_card, "8", {huge}));
  expect_refused("a whole number for NAXIS1", fits_unit(first_card, "8", {"18446744073709551616"}));
  EXPECT_EQ(opened(fits_unit(first_card, "8", {huge, huge, "0"})).elements(), 0u);
}

TEST_F(FitsTest, OtherFilesAreRaw) {
  const auto path = directory_.write("b.fits", small_fits());
  EXPECT_EQ(open(path, {.type = parse_dtype(">i2"), .offset = 2880}).elements(), 1440u);
  EXPECT_EQ(open(path, {.file = FileFormat::raw}).elements(), 5760u);
  const std::string other = "SIMPLE  = 1";
  EXPECT_EQ(open(directory_.write("c.f32", std::string(10, '\0') + other + "xyz")).elements(), 6u);
}

TEST_F(FitsTest, AStreamIsReadUpToItsFirstArray) {
  const auto stream = [&](const std::string& file) {
    return open(read_file(File::open(directory_.write("a.fits", file))), {});
  };
  const Source source = stream(small_fits() + fits_unit(image_cards, "8", {"1"}) + "a");
  EXPECT_EQ(source.type(), parse_dtype(">i2"));
  EXPECT_EQ(source.shape().size(), 2u);
  expect_error(ErrorKind::usage, "up to its first header",
               [&] { stream(no_array + fits_unit(image_cards, "8", {"1"}) + "a"); });
  expect_error(ErrorKind::bad_input, "a card END", [&] { stream(first_card); });
}

}  // namespace
}  // namespace ooc::detail
