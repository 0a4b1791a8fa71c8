#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

namespace ooc::detail::test {

/// Makes `descriptor` refer to another file, opened with `flags`.
inline void redirect(int descriptor, const char* path, int flags) {
  const int other = ::open(path, flags);
  ASSERT_GE(other, 0);
  ASSERT_EQ(::dup2(other, descriptor), descriptor);
  ::close(other);
}

}  // namespace ooc::detail::test
