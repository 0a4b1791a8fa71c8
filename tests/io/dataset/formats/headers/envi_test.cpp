// Tests headers of ENVI, and such headers that are damaged or hostile.

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

std::string envi(const std::string& interleave, const std::string& further = "",
                 const std::string& type = "2") {
  return "ENVI\ndescription = {\n  samples = 7 }\nsamples = 4\nlines = 3\nbands = 2\n"
         "header offset = 0\ndata type = " +
         type + "\ninterleave = " + interleave + "\nbyte order = 1\n" + further;
}

class EnviTest : public testing::Test {
 protected:
  EnviTest() { directory_.write("a.img", std::string(48, '\1')); }

  Source opened(const std::string& header) { return open(directory_.write("a.hdr", header)); }

  void expect_refused(const std::string& problem, const std::string& header) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(header); });
  }

  std::vector<std::uint64_t> shape_of(const std::string& header) {
    const Source source = opened(header);
    return {source.shape().begin(), source.shape().end()};
  }

  test::TempDir directory_;
};

TEST_F(EnviTest, TheInterleavingGivesTheShape) {
  EXPECT_EQ(shape_of(envi("bsq")), (std::vector<std::uint64_t>{2, 3, 4}));
  EXPECT_EQ(shape_of(envi("BIL")), (std::vector<std::uint64_t>{3, 2, 4}));
  EXPECT_EQ(shape_of(envi("bip")), (std::vector<std::uint64_t>{3, 4, 2}));
  EXPECT_EQ(code_of(*opened(envi("bsq")).type()), ">i2");
  EXPECT_TRUE(opened(envi("bsq")).has_format(FileFormat::envi));
  expect_refused("interleave to be", envi("bbb"));
}

TEST_F(EnviTest, OtherDataAreRefused) {
  expect_refused("elements of the data type 6", envi("bsq", "", "6"));
  expect_refused("data gain values", envi("bsq", "data gain values = {\n 2, 1}\n"));
  expect_refused("data gain values", envi("bsq", "data  Gain\tvalues = {2, 1}\n"));
  expect_refused("data gain values", envi("bsq", "data gain values =\n {2, 1}\n"));
  expect_refused("major frame offsets", envi("bsq", "major frame offsets = {4, 4}\n"));
  expect_refused("the file type 'TIFF'", envi("bsq", "file type = TIFF\n"));
  EXPECT_EQ(opened(envi("bsq", "file type = ENVI Standard\n")).elements(), 24u);
  expect_refused("compressed", envi("bsq", "file compression = 1\n"));
  expect_refused("is truncated", envi("bsq", "", "4"));
  expect_refused("no bytes behind", envi("bsq", "", "1"));
  expect_refused("samples once", envi("bsq", "samples = 5\n"));
  expect_refused("a brace behind", envi("bsq", "wavelength = { 1, 2\n"));
}

TEST_F(EnviTest, TheDataFileIsBeside) {
  directory_.write("b.img.hdr", envi("bsq"));
  directory_.write("b.img", std::string(48, '\1'));
  EXPECT_EQ(open(directory_.path() / "b.img.hdr").elements(), 24u);
  directory_.write("a.dat", std::string(48, '\1'));
  expect_refused("in 'a.img' or in 'a.dat'", envi("bsq"));
  expect_error(ErrorKind::bad_input, "no data file",
               [&] { open(directory_.write("c.hdr", envi("bsq"))); });
}

}  // namespace
}  // namespace ooc::detail
