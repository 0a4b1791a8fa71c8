#include <gtest/gtest.h>

#include <ooc/error.hpp>

#include <cerrno>
#include <set>
#include <string>
#include <string_view>

namespace ooc::detail {
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

TEST(Remedy, NamesASettingOfTheLibrary) {
  const auto in_words = [](const Remedy& remedy) { return advice({.remedies = {remedy}}); };
  EXPECT_EQ(in_words({RemedyAction::raise, "Options::memory_bytes"}),
            "raise Options::memory_bytes");
  EXPECT_EQ(in_words({RemedyAction::raise, "Options::memory_bytes", "4096"}),
            "raise Options::memory_bytes to at least 4096");
  EXPECT_EQ(in_words({RemedyAction::lower, "Format::count"}), "lower Format::count");
  EXPECT_EQ(in_words({RemedyAction::set, "Format::type"}), "set Format::type");
  EXPECT_EQ(in_words({RemedyAction::set, "Device::kind", "cpu"}), "set Device::kind to cpu");
  EXPECT_EQ(in_words({RemedyAction::unset, "Options::direct"}), "unset Options::direct");
  EXPECT_EQ(in_words({.change = RemedyAction::convert, .value = ">f4"}), "convert it to >f4");
}

TEST(Remedy, SharesItsVerbWithTheNext) {
  const Remedy raise{RemedyAction::raise, "A"}, b{RemedyAction::lower, "B"},
      c{RemedyAction::lower, "C"}, d{RemedyAction::lower, "D"};
  EXPECT_EQ(advice({.remedies = {raise, b, c}}), "raise A, or lower B or C");
  EXPECT_EQ(advice({.remedies = {b, c, d}}), "lower B, C or D");
  EXPECT_EQ(advice({.remedies = {b, raise, c}}), "lower B, or raise A, or lower C");
}

TEST(Remedy, FollowsTheHint) {
  EXPECT_EQ(
      advice({.remedies = {{RemedyAction::set, "A", "2", "is faster"}, {RemedyAction::set, "B"}}}),
      "set A to 2 (is faster) or B");
  EXPECT_EQ(advice({}), "");
  EXPECT_EQ(advice({.hint = "check the drive"}), "check the drive");
  EXPECT_EQ(advice({.hint = "check the drive", .remedies = {{RemedyAction::lower, "A"}}}),
            "check the drive, or lower A");
}

TEST(Remedy, IsSaidInTheWordsOfAProgram) {
  const auto words = [](const Remedy& remedy) {
    return RemedyWords{"give", "-" + std::string(remedy.setting)};
  };
  EXPECT_EQ(advice({.remedies = {{RemedyAction::raise, "a"}, {RemedyAction::lower, "b"}}}, words),
            "give -a or -b");
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
}  // namespace ooc::detail
