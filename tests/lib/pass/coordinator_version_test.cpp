#include <ooc/coordinator.hpp>
#include <ooc/detail/base/version.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace ooc {
namespace {

/// Makes a coordinator as a program does that was compiled with the headers of a version.
void make_coordinator(Version headers) {
  const Coordinator coordinator(make_device(DeviceKind::cpu), {}, headers);
}

void expect_refused(Version headers, const std::string& name) {
  try {
    make_coordinator(headers);
    FAIL() << name << " is not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    EXPECT_FALSE(error.details().why.empty());
    EXPECT_FALSE(error.details().hint.empty());
  }
}

TEST(CoordinatorVersion, HeadersOfAnotherMinorOrMajorVersionAreRefused) {
  const auto [major, minor, patch] = version();
  const std::string before = std::to_string(major) + ".", after = "." + std::to_string(patch);
  expect_refused({major, minor + 1, patch}, before + std::to_string(minor + 1) + after);
  expect_refused({major, minor - 1, patch}, before + std::to_string(minor - 1) + after);
  expect_refused({major + 1, minor, patch}, std::to_string(major + 1) + ".");
}

TEST(CoordinatorVersion, HeadersOfAnotherPatchAreNot) {
  const auto [major, minor, patch] = version();
  EXPECT_NO_THROW(make_coordinator({major, minor, patch + 1}));
}

}  // namespace
}  // namespace ooc
