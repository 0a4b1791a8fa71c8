#include <ooc/coordinator.hpp>
#include <ooc/detail/base/version.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <string>

#include "pass/coordinator_state.hpp"

namespace ooc::detail {
namespace {

void expect_refused(Version headers, const std::string& name) {
  try {
    require_version(headers);
    FAIL() << name << " is not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    EXPECT_FALSE(error.details().why.empty());
    EXPECT_FALSE(error.details().hint.empty());
  }
}

TEST(Version, IsThatOfTheHeadersAndOfTheProject) {
  const Version library = version();
  EXPECT_EQ(library.major, OOC_VERSION_MAJOR);
  EXPECT_EQ(library.minor, OOC_VERSION_MINOR);
  EXPECT_EQ(library.patch, OOC_VERSION_PATCH);
  EXPECT_EQ(std::to_string(library.major) + "." + std::to_string(library.minor) + "." +
                std::to_string(library.patch),
            PROJECT_VERSION);
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
  EXPECT_NO_THROW(require_version({major, minor, patch + 1}));
}

}  // namespace
}  // namespace ooc::detail
