#include <gtest/gtest.h>

#include <ooc/io/error.hpp>

#include <cerrno>
#include <set>
#include <string_view>

namespace ooc {
namespace {

TEST(Error, SaysWhatFailedWhereAndWhy) {
  const Error error =
      Error::from_errno(ErrorKind::input, "read", EIO, "big.f32", 41943040, "check the drive");
  EXPECT_STREQ(error.what(), "big.f32: read failed at byte 41943040: Input/output error (EIO)");
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.details().path, "big.f32");
  EXPECT_EQ(error.details().offset, 41943040u);
  EXPECT_EQ(error.details().errno_value, EIO);
  EXPECT_EQ(error.details().hint, "check the drive");
}

TEST(Error, LeavesOutWhatIsNotKnown) {
  const Error error = Error::from_errno(ErrorKind::memory, "mmap", ENOMEM);
  EXPECT_STREQ(error.what(), "mmap failed: Cannot allocate memory (ENOMEM)");
  EXPECT_FALSE(error.details().offset.has_value());
}

TEST(Error, NamesFilesAsAShellTakesThem) {
  EXPECT_EQ(shell_word("data/big-1.f32"), "data/big-1.f32");
  EXPECT_EQ(shell_word("my data.f32"), "'my data.f32'");
  EXPECT_EQ(shell_word("it's.f32"), "'it'\\''s.f32'");
  EXPECT_EQ(shell_word(">f4"), "'>f4'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ErrorKind, HasANameOfItsOwn) {
  EXPECT_EQ(to_string(ErrorKind::usage), "usage");
  EXPECT_EQ(to_string(ErrorKind::input_changed), "input_changed");
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind) {
    names.insert(to_string(static_cast<ErrorKind>(kind)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorKind::internal) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Error, CopesWithUnknownNumbers) {
  EXPECT_EQ(describe_errno(123456), "error 123456");
}

}  // namespace
}  // namespace ooc
