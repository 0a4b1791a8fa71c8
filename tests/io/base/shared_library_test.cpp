#include <ooc/detail/base/shared_library.hpp>

#include <gtest/gtest.h>

#include <string>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

TEST(SharedLibrary, SaysWhatIsMissingAndWhatToDo) {
  constexpr const char* names[] = {"libooc-has-no-such.so.1", "libooc-has-no-such.so"};
  try {
    SharedLibrary("OpenBLAS", names, ErrorKind::device, "apt-get install libopenblas0-pthread");
    FAIL() << "it was there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_STREQ(error.what(), "OpenBLAS is not there");
    EXPECT_NE(error.details().why.find(names[0]), std::string::npos) << error.details().why;
    EXPECT_NE(error.details().why.find(names[1]), std::string::npos) << error.details().why;
    EXPECT_EQ(error.details().hint, "apt-get install libopenblas0-pthread");
  }
}

TEST(SharedLibrary, TakesTheFirstThatIsThere) {
  constexpr const char* names[] = {"libooc-has-no-such.so", "libm.so.6"};
  const SharedLibrary library("the C library", names, ErrorKind::device, "");
  EXPECT_EQ(library.function<double(double)>("sqrt")(9.0), 3.0);
  expect_error(ErrorKind::device, "the C library has no function sqroot",
               [&] { library.function<double(double)>("sqroot"); });
}

}  // namespace
}  // namespace ooc::detail
