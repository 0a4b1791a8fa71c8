// Tests NRRD files, with their data and without, and such files that are damaged or hostile.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

const std::string usual_fields =
    "type: short\ndimension: 2\nsizes: 3 2\nencoding: raw\nendian: little\n";

std::string nrrd(const std::string& fields, const std::string& data = std::string(12, '\1')) {
  return "NRRD0004\n# a comment\n" + fields + "\n" + data;
}

/// Returns the usual fields with one of them replaced.
std::string with_field(const std::string& field, const std::string& value) {
  std::string fields = usual_fields;
  const std::size_t at = fields.find(field + ": ");
  return fields.replace(at, fields.find('\n', at) - at, field + ": " + value);
}

class NrrdTest : public testing::Test {
 protected:
  Source opened(const std::string& file, const Format& format = {}) {
    return open(directory_.write("a.nrrd", file), format);
  }

  void expect_refused(const std::string& problem, const std::string& file) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(file); });
  }

  test::TempDir directory_;
};

TEST_F(NrrdTest, HasItsSizesReversed) {
  const Source source = opened(nrrd(usual_fields + "key:=value: 1\nspacings: 1 1\n"));
  EXPECT_EQ(source.type(), parse_dtype("<i2"));
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{2, 3}));
  EXPECT_TRUE(source.has_format(FileFormat::nrrd));
  EXPECT_EQ(code_of(*opened(nrrd(with_field("endian", "BIG"))).type()), ">i2");
  std::string windows = nrrd(usual_fields, "");
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) {
    windows.insert(at, "\r");
  }
  EXPECT_EQ(opened(windows + std::string(12, '\1')).elements(), 6u);
}

TEST_F(NrrdTest, TypesHaveSeveralNames) {
  const auto type = [&](const std::string& name, std::size_t bytes) {
    return code_of(*opened(nrrd(with_field("type", name), std::string(6 * bytes, '\1'))).type());
  };
  EXPECT_EQ(type("signed char", 1), "|i1");
  EXPECT_EQ(type("unsigned char", 1), "|u1");
  EXPECT_EQ(type("Uint16_t", 2), "<u2");
  EXPECT_EQ(type("signed short int", 2), "<i2");
  EXPECT_EQ(type("unsigned long long int", 8), "<u8");
  EXPECT_EQ(type("float", 4), "<f4");
  EXPECT_EQ(type("double", 8), "<f8");
  for (const char* const name : {"block", "char", "signed ", "half", ""}) {
    expect_refused("elements of the type", nrrd(with_field("type", name)));
  }
}

TEST_F(NrrdTest, BytesAndLinesAreSkipped) {
  const std::string data(12, '\1');
  const auto begin = [&](const std::string& fields, const std::string& skipped) {
    const std::string file = nrrd(usual_fields + fields, skipped + data);
    return storage_of(opened(file)).front().offset + 12 == file.size();
  };
  EXPECT_TRUE(begin("byte skip: 5\n", "12345"));
  EXPECT_TRUE(begin("byteskip: -1\n", "any"));
  EXPECT_TRUE(begin("line skip: 2\n", "one\n\n"));
  EXPECT_TRUE(begin("line skip: 1\nbyte skip: 2\n", "one\nab"));
  expect_refused("the lines to skip", nrrd(usual_fields + "line skip: 2\n", "one\n"));
  expect_refused("a file that has all data", nrrd(usual_fields + "byte skip: -1\n", "short"));
  expect_refused("byte skip that is not negative", nrrd(usual_fields + "byte skip: -2\n"));
  expect_refused("is truncated", nrrd(usual_fields + "byte skip: 9223372036854775807\n"));
}

TEST_F(NrrdTest, HeadersThatContradictTheFileAreRefused) {
  expect_refused("is truncated", nrrd(usual_fields, std::string(11, '\1')));
  expect_refused("no bytes behind the data", nrrd(usual_fields, std::string(13, '\1')));
  expect_refused("as many sizes", nrrd(with_field("dimension", "3")));
  expect_refused("as many sizes", nrrd(with_field("sizes", "")));
  expect_refused("64 whole numbers", nrrd(with_field("sizes", "3 -2")));
  expect_refused("64 whole numbers", nrrd(with_field("sizes", "3 x")));
  expect_refused("more data than a file can hold",
                 nrrd(with_field("sizes", "9223372036854775807 9223372036854775807")));
  expect_refused("endian to be", nrrd(with_field("endian", "middle")));
  expect_refused("type once", nrrd(usual_fields + "type: short\n"));
  expect_refused("an empty line", "NRRD0004\n" + usual_fields);
  expect_refused("numbers encoded as 'gzip'", nrrd(with_field("encoding", "gzip")));
  EXPECT_TRUE(opened(nrrd(usual_fields), {.file = FileFormat::raw}).shape().empty());
}

TEST_F(NrrdTest, DataMayBeInAFileBeside) {
  const auto header = [&](const std::string& name) {
    return open(
        directory_.write("a.nhdr", "NRRD0004\n" + usual_fields + "data file: " + name + "\n"));
  };
  directory_.write("a.raw", std::string(12, '\1'));
  EXPECT_EQ(header("a.raw").elements(), 6u);
  EXPECT_EQ(files_of(header("./a.raw")).front().size(), 12u);
  const auto expect = [&](ErrorKind kind, const std::string& problem, const std::string& name) {
    SCOPED_TRACE(name);
    expect_error(kind, problem, [&] { header(name); });
  };
  expect(ErrorKind::input, "b.raw", "b.raw");
  for (const char* const name : {"/etc/passwd", "../a.raw", "x/a.raw", "..", "."}) {
    expect(ErrorKind::bad_input, "the name of a file beside it", name);
  }
  std::filesystem::create_symlink("a.raw", directory_.path() / "link");
  expect(ErrorKind::bad_input, "is a link", "link");
  expect(ErrorKind::bad_input, "data in several files", "a%03d.raw 1 9 1");
  expect(ErrorKind::bad_input, "data in several files", "LIST");
  directory_.write("long.raw", std::string(13, '\1'));
  expect(ErrorKind::bad_input, "no bytes behind the data", "long.raw");
  directory_.write("short.raw", std::string(11, '\1'));
  expect(ErrorKind::bad_input, "is truncated", "short.raw");
}

}  // namespace
}  // namespace ooc::detail
