#include <ooc/detail/base/version.hpp>

#include <gtest/gtest.h>

#include <string>

namespace ooc {
namespace {

TEST(Version, IsThatOfTheHeadersAndOfTheProject) {
  const Version library = version();
  EXPECT_EQ(library.major, OOC_VERSION_MAJOR);
  EXPECT_EQ(library.minor, OOC_VERSION_MINOR);
  EXPECT_EQ(library.patch, OOC_VERSION_PATCH);
  EXPECT_EQ(std::to_string(library.major) + "." + std::to_string(library.minor) + "." +
                std::to_string(library.patch),
            PROJECT_VERSION);
}

}  // namespace
}  // namespace ooc
