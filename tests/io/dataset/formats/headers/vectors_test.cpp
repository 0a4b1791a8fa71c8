// Tests files of vectors (.fbin, .fvecs), and such files that are damaged or hostile.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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

std::string matrix_file(std::uint64_t rows, std::uint64_t columns, const std::string& data) {
  return little(rows, 4) + little(columns, 4) + data;
}

class VectorsTest : public testing::Test {
 protected:
  Source opened(const std::string& name, const std::string& file, const Format& format = {}) {
    return open(directory_.write(name, file), format);
  }

  void expect_refused(const std::string& problem, const std::string& name,
                      const std::string& file) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(name, file); });
  }

  /// Returns all bytes of the array of a file.
  std::string read(const std::string& name, const std::string& file) {
    const Source source = opened(name, file);
    const Extent data = storage_of(source).front();
    std::string text(data.bytes, '\0');
    read_exactly(files_of(source).front(), data.offset, std::as_writable_bytes(std::span(text)));
    return text;
  }

  test::TempDir directory_;
};

TEST_F(VectorsTest, AMatrixHasItsShapeInFront) {
  constexpr std::array types{std::pair{"fbin", "<f4"}, std::pair{"ibin", "<i4"},
                             std::pair{"u8bin", "|u1"}, std::pair{"i8bin", "|i1"}};
  for (const auto& [ending, code] : types) {
    const std::string data(6 * size_of(parse_dtype(code)), 'x');
    const Source source = opened(std::string("a.") + ending, matrix_file(3, 2, data));
    EXPECT_EQ(code_of(*source.type()), code);
    EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
              (std::vector<std::uint64_t>{3, 2}));
    EXPECT_EQ(storage_of(source).front().offset, 8u);
    EXPECT_TRUE(source.has_format(FileFormat::vectors));
  }
  EXPECT_EQ(opened("a.fbin", matrix_file(0, 2, "")).elements(), 0u);
}

TEST_F(VectorsTest, TheSizeOfAMatrixMustBeRight) {
  expect_refused("is truncated", "a.u8bin", matrix_file(3, 2, "abcde"));
  expect_refused("no bytes behind the data", "a.u8bin", matrix_file(3, 2, "abcdefg"));
  expect_refused("is truncated", "a.u8bin", matrix_file(0xffff'ffff, 0xffff'ffff, "abcd"));
  expect_refused("more data than a file can hold", "a.fbin",
                 matrix_file(0xffff'ffff, 0xffff'ffff, "abcd"));
  expect_refused("rows and columns", "a.fbin", "abcdefg");
  const std::string file = matrix_file(3, 2, std::string(24, '\0'));
  EXPECT_EQ(opened("a.fbin", file, {.type = parse_dtype("f4"), .offset = 8}).elements(), 6u);
  EXPECT_EQ(opened("a.fbin", file, {.file = FileFormat::raw}).elements(), 32u);
  expect_error(ErrorKind::bad_input, "holds <f4",
               [&] { opened("a.fbin", file, {.type = parse_dtype("f8")}); });
  expect_error(ErrorKind::usage, "does not say its type",
               [&] { opened("a.bin", file, {.file = FileFormat::vectors}); });
  expect_error(ErrorKind::usage, "cannot be read as a stream",
               [&] { open(read_file(File::open(directory_.write("a.fbin", file))), {}); });
}

TEST_F(VectorsTest, RowsLoseTheirNumberOfElements) {
  const std::string rows = little(3, 4) + "abc" + little(3, 4) + "def";
  EXPECT_EQ(read("a.bvecs", rows), "abcdef");
  EXPECT_EQ(read("a.fvecs", little(1, 4) + "abcd" + little(1, 4) + "efgh"), "abcdefgh");
  const Source source = opened("a.ivecs", little(2, 4) + "abcdefgh");
  EXPECT_EQ(code_of(*source.type()), "<i4");
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{1, 2}));
  std::string many, expected;
  for (int i = 0; i < 20'000; ++i) {  // several pieces
    many += little(99, 4) + std::string(99, static_cast<char>(i));
    expected += std::string(99, static_cast<char>(i));
  }
  EXPECT_EQ(read("b.bvecs", many), expected);
}

TEST_F(VectorsTest, RowsOfOtherLengthsAreRefused) {
  expect_refused("the number of elements", "a.bvecs", little(0, 4));
  expect_refused("the number of elements", "a.bvecs", little(0xffff'ffff, 4) + "abc");
  expect_refused("a row", "a.bvecs", "abc");
  expect_refused("are left over", "a.bvecs", little(3, 4) + "abc" + little(2, 4) + "de");
  expect_refused("are left over", "a.fvecs", little(0x7fff'ffff, 4) + "abc");
  // The size is that of rows of three, and the lengths are not.
  const std::string other = little(3, 4) + "abc" + little(2, 4) + "def";
  expect_error(ErrorKind::bad_input, "a row has 2 elements, not the 3",
               [&] { read("a.bvecs", other); });
}

}  // namespace
}  // namespace ooc::detail
