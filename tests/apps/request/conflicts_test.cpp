#include "request/conflicts.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ooc/error.hpp>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "support/temp_dir.hpp"

namespace ooc_run {
namespace {

/// Returns the message of the refusal. Empty if the request is accepted.
std::string refusal(const std::string& command, const std::vector<std::string>& words) {
  try {
    read_request(Arguments(find_command(command), words));
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::usage) << error.what();
    return error.what();
  }
  return {};
}

TEST(ConflictsTest, SideFilesAreNoFilesOfTheData) {
  EXPECT_EQ(refusal("reduce", {"x", "--trace", "x"}), "--trace x: is a file of the data");
  EXPECT_EQ(refusal("reduce", {"a", "x.html", "--report", "x.html"}),
            "--report x.html: is a file of the data");
  EXPECT_EQ(refusal("convert", {"x", "-o", "y", "--trace", "./y"}),
            "--trace ./y: is the file of -o");
  EXPECT_EQ(refusal("matmul", {"a", "b", "-o", "c", "--trace", "c"}),
            "--trace c: is the file of -o");
  EXPECT_EQ(refusal("bench", {"p.svg", "--plot", "p.svg"}), "--plot p.svg: is a file of the data");
}

TEST(ConflictsTest, SideFilesAreNotEachOther) {
  EXPECT_EQ(refusal("histogram", {"x", "--trace", "y.html", "--report", "y.html"}),
            "--trace y.html: is the file of --report");
  EXPECT_EQ(refusal("histogram", {"x", "--trace", "p.svg", "--plot", "p.svg"}),
            "--trace p.svg: is the file of --plot");
  EXPECT_EQ(refusal("histogram", {"x", "--trace", "t", "--report", "r.html", "--plot", "p.svg"}),
            "");
}

TEST(ConflictsTest, AFileIsTheSameUnderAnotherName) {
  const ooc::detail::test::TempDir directory;
  const std::filesystem::path data = directory.path() / "data", link = directory.path() / "link";
  std::ofstream(data) << "x";
  std::filesystem::create_symlink(data, link);
  EXPECT_NE(refusal("reduce", {data.string(), "--trace", link.string()}), "");
  const std::filesystem::path hard = directory.path() / "hard";
  std::filesystem::create_hard_link(data, hard);
  EXPECT_NE(refusal("reduce", {data.string(), "--trace", hard.string()}), "");
}

TEST(ConflictsTest, ACodeOfNumpyIsNotTheEndingOfTheSameName) {
  EXPECT_EQ(refusal("reduce", {"a.u8", "--dtype", "u8"}),
            "a.u8: u8 in NumPy's code is 64 bits, the ending .u8 says 8 bits");
  EXPECT_NE(refusal("info", {"b.i8", "--dtype", "i8"}), "");
  EXPECT_EQ(refusal("reduce", {"a.u8", "--dtype", "uint64"}), "");
  EXPECT_EQ(refusal("reduce", {"a.bin", "--dtype", "u8"}), "");
}

TEST(ConflictsTest, OnlyNpyFilesHaveAShape) {
  EXPECT_EQ(refusal("convert", {"x", "-o", "y.f32", "--shape", "2x3"}),
            "y.f32: only a .npy file has a shape");
  EXPECT_EQ(refusal("convert", {"x", "-o", "y.npy", "--shape", "2x3"}), "");
}

TEST(ConflictsTest, AConstantIsAValueOfItsType) {
  const std::vector<std::string> words{"-o",        "y.u8",     "--count", "1",
                                       "--pattern", "constant", "--value"};
  const auto with = [&](const std::string& value) {
    std::vector<std::string> all = words;
    all.push_back(value);
    return refusal("gen", all);
  };
  EXPECT_EQ(with("255"), "");
  EXPECT_EQ(with("256"), "--value 256 is not an exact value of uint8");
  EXPECT_EQ(refusal("gen", {"-o", "y", "--count", "1", "--value", "3"}),
            "--value needs --pattern constant");
}

}  // namespace
}  // namespace ooc_run
