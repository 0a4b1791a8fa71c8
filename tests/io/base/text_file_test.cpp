#include <gtest/gtest.h>

#include <ooc/detail/base/text_file.hpp>

#include <string>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

TEST(TextFile, IsReadToItsEnd) {
  const test::TempDir directory;
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 10'000u}) {
    std::string text(size, 'x');
    if (size > 2) text[size / 2] = '\0';
    EXPECT_EQ(read_text(directory.write("text", text)), text);
  }
}

TEST(TextFile, ThatHasNoSizeIsReadToo) {
  EXPECT_NE(read_text("/proc/self/status").find("\nPid:"), std::string::npos);
}

TEST(TextFile, ThatCannotBeReadIsEmpty) {
  EXPECT_EQ(read_text("/none"), "");
  EXPECT_EQ(read_text("/proc/self/mem"), "");  // no memory is mapped at offset 0: EIO
}

}  // namespace
}  // namespace ooc::detail
