// Tests recordings of SigMF, and such descriptions that are damaged or hostile.

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

std::string sigmf(const std::string& type, const std::string& further = "",
                  const std::string& captures = "[{\"core:sample_start\": 0}]") {
  return "{\"global\": {\"core:datatype\": \"" + type + "\", \"core:version\": \"1.0.0\"" +
         further + "}, \"captures\": " + captures + ", \"annotations\": [{\"core:label\": \"x\"}]}";
}

class SigmfTest : public testing::Test {
 protected:
  SigmfTest() { directory_.write("a.sigmf-data", std::string(48, '\1')); }

  Source opened(const std::string& description) {
    return open(directory_.write("a.sigmf-meta", description));
  }

  void expect_refused(const std::string& problem, const std::string& description) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(description); });
  }

  std::vector<std::uint64_t> shape_of(const std::string& description) {
    const Source source = opened(description);
    return {source.shape().begin(), source.shape().end()};
  }

  test::TempDir directory_;
};

TEST_F(SigmfTest, ComplexSamplesArePairs) {
  EXPECT_EQ(shape_of(sigmf("cf32_le")), (std::vector<std::uint64_t>{6, 2}));
  EXPECT_EQ(shape_of(sigmf("ru8")), (std::vector<std::uint64_t>{48}));
  EXPECT_EQ(shape_of(sigmf("ci16_be", ", \"core:num_channels\": 3")),
            (std::vector<std::uint64_t>{4, 3, 2}));
  EXPECT_EQ(code_of(*opened(sigmf("ci16_be")).type()), ">i2");
  EXPECT_EQ(code_of(*opened(sigmf("rf64_le")).type()), "<f8");
  EXPECT_TRUE(opened(sigmf("ru8")).has_format(FileFormat::sigmf));
  directory_.write("b.bin", std::string(5, '\1'));
  EXPECT_EQ(shape_of(sigmf("ri8", ", \"core:dataset\": \"b.bin\"")),
            (std::vector<std::uint64_t>{5}));
}

TEST_F(SigmfTest, ExtensionsMayBeNeeded) {
  const auto with = [](const std::string& optional) {
    return sigmf("ri16_le",
                 ", \"core:extensions\": [{\"name\": \"x\", \"version\": \"1\", "
                 "\"optional\": " +
                     optional + "}]");
  };
  EXPECT_EQ(opened(with("true")).elements(), 24u);
  expect_refused("an extension is needed", with("false"));
}

TEST_F(SigmfTest, OtherDescriptionsAreRefused) {
  for (const char* const type : {"cf32", "f32_le", "cf16_le", "ru8_xe", ""}) {
    expect_refused("samples of the type", sigmf(type));
  }
  expect_refused("other bytes", sigmf("ru8", ", \"core:trailing_bytes\": 8"));
  expect_refused("other bytes", sigmf("ru8", ", \"core:metadata_only\": true"));
  expect_refused("other bytes", sigmf("ru8", "", "[{}, {\"core:header_bytes\": 4}]"));
  expect_refused("whole samples", sigmf("cf32_le", ", \"core:num_channels\": 7"));
  expect_refused("whole samples",
                 sigmf("cf64_le", ", \"core:num_channels\": 18446744073709551615"));
  expect_refused("1 and more", sigmf("ru8", ", \"core:num_channels\": 0"));
  expect_refused("a whole number", sigmf("ru8", ", \"core:num_channels\": -1"));
  expect_refused("a file beside it", sigmf("ru8", ", \"core:dataset\": \"../a.sigmf-data\""));
  expect_refused("the key global", "{}");
  expect_refused("is no JSON", "global");
}

}  // namespace
}  // namespace ooc::detail
